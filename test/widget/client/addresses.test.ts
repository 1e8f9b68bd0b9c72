import { describe, expect, test } from 'vitest';
import { readEndpoint, readPortalUrl, toSocketAddress } from '../../../widget/src/gateway/addresses.ts';

describe('an endpoint', () => {
  test.each([
    ['https://gateway.test/graphql', 'wss://gateway.test/graphql'],
    ['http://localhost:4000/graphql', 'ws://localhost:4000/graphql'],
    ['http://127.0.0.1:4000/graphql', 'ws://127.0.0.1:4000/graphql'],
    ['http://[::1]:4000/graphql', 'ws://[::1]:4000/graphql'],
    ['https://gateway.test/graphql#part', 'wss://gateway.test/graphql'],
  ])('%s has its socket at %s', (endpoint, socket) => {
    expect(toSocketAddress(readEndpoint(endpoint))).toBe(socket);
  });

  test.each([
    'http://gateway.test/graphql',
    'http://localhost.gateway.test/',
    'https://user@gateway.test/',
    'https://:word@gateway.test/',
    'ftp://localhost/',
    'javascript:alert(1)',
    'https://',
    // All of them would be the address of the page itself.
    '',
    ' \n',
    '#graphql',
    '?graphql',
  ])('is not %j', (endpoint) => {
    expect(() => readEndpoint(endpoint)).toThrow(expect.objectContaining({ code: 'ENDPOINT_INVALID' }));
  });
});

describe('a portal address', () => {
  test.each([
    ['https://portal.test/a?b=c', null],
    ['https://portal.test/', '   '],
    ['https://portal.test/', 'https://other.test https://portal.test'],
    ['https://portal.test/', 'https://portal.test:443/'],
    ['http://localhost:5000/', 'http://localhost:5000'],
  ])('%s is taken where %j is allowed', (url, origins) => {
    expect(readPortalUrl(url, origins)).toBe(url);
  });

  test.each([
    ['https://portal.test.evil.test/', 'https://portal.test'],
    ['https://portal.test:8443/', 'https://portal.test'],
    ['https://portal.test@evil.test/', null],
    ['http://portal.test/', null],
    ['data:text/html,hello', null],
    ['/relative', null],
    [7, null],
    [null, null],
  ])('%j is refused where %j is allowed', (url, origins) => {
    expect(() => readPortalUrl(url, origins)).toThrow(expect.objectContaining({ code: 'URL_REJECTED' }));
  });
});
