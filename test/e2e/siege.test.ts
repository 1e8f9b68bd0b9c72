import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Besieged, sendHostile, sendMalformed } from '../siege/siege.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';

const token = 'a-gateway-key-of-the-siege';
const webhookSecret = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;
let folder: Folder;
let gateway: GatewayProcess;
let besieged: Besieged;

beforeAll(async () => {
  folder = makeFolder();
  gateway = await startGatewayProcess(folder.path, {
    PORT: '0',
    GATEWAY_API_KEYS: token,
    WEBHOOK_SECRETS: webhookSecret,
    LOG_LEVEL: 'error',
  });
  besieged = { url: gateway.url, token, webhookSecret };
});

afterAll(async () => {
  await gateway.end('SIGTERM');
  folder[Symbol.dispose]();
});

describe('a gateway in a process of its own', () => {
  test.each(['/graphql', '/webhooks', '/webhooks, signed'] as const)(
    'neither fails over malformed bodies nor repeats them: %s',
    async (path) => {
      const { sent, failed, echoed } = await sendMalformed(besieged, path);
      expect(sent).toBeGreaterThan(200);
      expect({ failed, echoed }).toEqual({ failed: [], echoed: [] });
    },
  );

  test('refuses every hostile query with a code of the list, over every transport', async () => {
    const reports = await sendHostile(besieged);
    const codes = new Set(reports.map(({ code }) => code));
    expect([...codes].toSorted((one, other) => String(one).localeCompare(String(other)))).toEqual([
      'BAD_USER_INPUT',
      'GRAPHQL_PARSE_FAILED',
      'GRAPHQL_VALIDATION_FAILED',
      'QUERY_TOO_COSTLY',
    ]);
  });

  test.each([
    ['GET /health HTTP/1.1', '200'],
    ['GET /health HTTP/1.1\r\nhost: gateway', '400'],
    ['GET /graphql HTTP/1.1\r\nHOST: gateway\r\nconnection: upgrade\r\nupgrade: websocket', '400'],
  ])('goes by one Host, and refuses two: %j', async (start, status) => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.end(`${start}\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
    expect((await text(socket)).slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
  });

  test.each(['/', '/graphql'])(
    'shows the page %s in no frame, and it asks this origin only',
    async (path) => {
      const { headers, status } = await fetch(`${gateway.url}${path}`, { headers: { accept: 'text/html' } });
      expect(status).toBe(200);
      const policy = headers.get('content-security-policy') ?? '';
      for (const rule of [
        "default-src 'none'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
      ]) {
        expect(policy.split('; ')).toContain(rule);
      }
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  test('has logged no failure', () => {
    expect(gateway.output.filter((line) => line.includes('"level":50'))).toEqual([]);
  });
});
