import type { LookupFunction } from 'node:net';
import fc from 'fast-check';
import { Pool } from 'undici';
import { describe, expect, test } from 'vitest';
import { isGatewayError } from '../../../gateway/errors.ts';
import { exchange } from '../../../gateway/service/exchange.ts';
import { Refusal, readAnswer, readRetryAfter } from '../../../gateway/service/failure.ts';
import { findFreePort } from '../../support/listening.ts';
import { startSecureService } from '../../support/secure-service.ts';

function failureOf(answer: { readonly status: number; readonly body: string; readonly retryAfter?: string }) {
  try {
    readAnswer({ retryAfter: null, ...answer }, {});
  } catch (error) {
    if (isGatewayError(error)) return error;
    throw error;
  }
  throw new Error('It did not fail.');
}

/** How a request fails whose host has these addresses, or whose name cannot be resolved. */
async function failureOfHost(found: readonly string[] | 'EAI_AGAIN') {
  const noAnswer = Object.assign(new Error('No answer.'), { code: 'EAI_AGAIN', syscall: 'getaddrinfo' });
  const lookup: LookupFunction = (_host, _options, answer) => {
    if (found === 'EAI_AGAIN') answer(noAnswer, []);
    else
      answer(
        null,
        found.map((address) => ({ address, family: 4 })),
      );
  };
  const pool = new Pool(`http://service.invalid:${await findFreePort()}`, { connect: { lookup } });
  const request = { method: 'POST', path: '/', headers: {}, body: '{}' } as const;
  try {
    return await exchange(pool, request, { ms: 60_000, maxBytes: 1, left: null }).catch((error) => error);
  } finally {
    await pool.destroy();
  }
}

test.each([
  ['name cannot be resolved now', 'EAI_AGAIN'],
  ['address cannot be reached', ['255.255.255.255']],
  ['addresses refuse all', ['127.0.0.1', '127.0.0.2']],
] as const)('a request to a host whose %s was never sent', async (_, found) => {
  expect(await failureOfHost(found)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', notSent: true });
});

test('nothing is sent to a service whose certificate is for another name, and the error says so', async () => {
  await using service = await startSecureService((_, response) => response.end('{}'));
  const { port } = new URL(service.url);
  const lookup: LookupFunction = (_, { all }, answer) => {
    if (all) answer(null, [{ address: '127.0.0.1', family: 4 }]);
    else answer(null, '127.0.0.1', 4);
  };
  const pool = new Pool(`https://service.invalid:${port}`, { connect: { lookup } });
  const request = { method: 'POST', path: '/', headers: {}, body: '{}' } as const;

  const failed = exchange(pool, request, { ms: 60_000, maxBytes: 1, left: null });

  await expect(failed).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The service could not be reached: its certificate is not accepted.',
    notSent: true,
  });
  expect(service.calls()).toEqual([]);
  await pool.destroy();
});

function messagesOf(detail: unknown, status = 422): readonly string[] {
  return failureOf({ status, body: JSON.stringify({ detail }) }).issues.map(({ message }) => message);
}

describe('the status of an answer decides its code', () => {
  test.each([
    [301, 'UPSTREAM_UNREADABLE'],
    [400, 'UPSTREAM_REJECTED'],
    [401, 'UPSTREAM_UNAUTHORIZED'],
    [403, 'UPSTREAM_FORBIDDEN'],
    [408, 'UPSTREAM_TIMEOUT'],
    [409, 'UPSTREAM_REJECTED'],
    [422, 'UPSTREAM_REJECTED'],
    [429, 'UPSTREAM_RATE_LIMITED'],
    [500, 'UPSTREAM_UNAVAILABLE'],
    [502, 'UPSTREAM_UNAVAILABLE'],
    [503, 'UPSTREAM_UNAVAILABLE'],
  ])('%i is %s', (status, code) => {
    expect(failureOf({ status, body: '<html>secret@example.com</html>' })).toMatchObject({ code, status });
  });

  test.each([
    [204, 'PATCH', null],
    [200, 'PATCH', null],
    [200, 'GET', null],
    // A service may answer 204 in place of 404.
    [204, 'GET', undefined],
  ] as const)('%i without a body for a %s is %s', (status, method, json) => {
    expect(readAnswer({ status, retryAfter: null, body: '' }, { method }).json).toBe(json);
  });

  test.each(['<html>Jane Doe</html>', '{"name": "Jane Doe"', 'Jane Doe'])(
    '%s is unreadable, and quoted nowhere',
    (body) => {
      const error = failureOf({ status: 200, body });
      expect(error).toMatchObject({ code: 'UPSTREAM_UNREADABLE', status: 200 });
      expect(error.cause).toBeUndefined();
      expect(`${error.stack}`).not.toContain('Jane');
    },
  );
});

describe('a success with the body of an error', () => {
  test.each([
    { detail: 'Not available for Jane Doe.' },
    { detail: [{ type: 'missing', loc: ['body'], msg: 'Field required' }] },
    { error: 'Bad Request', message: 'Jane Doe is unknown.', status_code: 400 },
  ])('is unreadable: %j', (body) => {
    const error = failureOf({ status: 200, body: JSON.stringify(body) });
    expect(error).toMatchObject({ code: 'UPSTREAM_UNREADABLE', status: 200 });
    expect(`${error.stack}`).not.toContain('Jane');
  });

  test.each([
    { id: 'o1', detail: 'a new field' },
    { message: 'Order created.', status: 'success' },
    { message: 'Order cancelled.', error: null },
    {},
  ])('is no other body with such a name: %j', (body) => {
    const answer = { status: 200, retryAfter: null, body: JSON.stringify(body) };
    expect(readAnswer(answer, {}).json).toEqual(body);
  });
});

describe('a refusal that is asked for', () => {
  const body = JSON.stringify({ detail: { user_id: 'u' } });

  test('is given back as its JSON', () => {
    const { json: refusal } = readAnswer({ status: 400, retryAfter: null, body }, { readsRefusals: [400] });
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({
      json: { detail: { user_id: 'u' } },
      error: { code: 'UPSTREAM_REJECTED' },
    });
  });

  test.each([
    ['of another status', 409, body],
    ['that is no JSON', 400, '<html>'],
    ['that is empty', 400, ''],
    ['that is no object', 400, '[]'],
  ])('%s is thrown like every other', (_name, status, text) => {
    expect(() => readAnswer({ status, retryAfter: null, body: text }, { readsRefusals: [400] })).toThrow(
      'refused',
    );
  });
});

describe('the issues of a 422', () => {
  test('say where and what', () => {
    const detail = [
      { loc: ['body', 'address', 'zip', 0], msg: 'field required', type: 'missing' },
      { loc: 'nowhere', msg: 'String should have at least 5 characters', type: 'too_short', input: '' },
      'text',
      null,
    ];
    expect(failureOf({ status: 422, body: JSON.stringify({ detail }) }).issues).toEqual([
      { location: ['body', 'address', 'zip', '0'], message: 'field required', kind: 'missing' },
      { location: [], message: 'String should have at least 5 characters', kind: 'too_short' },
    ]);
  });

  test.each(['', 'null', '[]', '"text"', '{"detail":"Jane Doe"}', '{"detail":{}}', '<html>'])(
    'of the body %s are none',
    (body) => {
      expect(failureOf({ status: 422, body }).issues).toEqual([]);
    },
  );

  test.each<readonly [string, unknown, string]>([
    ['a text', 'Jane Doe', "value 'Jane Doe' is not allowed"],
    ['a text in another case', 'Jane Doe', 'value jane doe is not allowed'],
    ['one letter', 'F', "'F' is not a valid value"],
    ['a number', 1987, 'got 1987'],
    ['a text inside a list', [{ phone: '+15550100' }], 'bad number +15550100'],
    ['a text with blanks around', ' Jane ', 'no Jane here'],
    ['one word of a text', 'Jane Doe', 'the name Doe is not allowed'],
  ])('never quote %s that was sent', (_name, input, msg) => {
    expect(messagesOf([{ loc: [], msg, type: 'value_error', input }])).toEqual(['value_error']);
  });

  test('never quote any part of the request, wherever it appears', () => {
    const word = fc.stringMatching(/^[A-Za-z0-9@.+-]{4,20}$/);
    fc.assert(
      fc.property(word, word, word, (before, secret, after) => {
        const detail = [
          { loc: [], msg: `#${before} ${secret} ${after}#`, type: '*', input: { deep: [secret] } },
        ];
        expect(messagesOf(detail)).toEqual(['*']);
      }),
    );
  });

  test('keep a message that has nothing of the input', () => {
    const issue = { loc: [], msg: 'Field required', type: 'missing', input: { sex: 'F', note: 'e', zip: 9 } };
    expect(messagesOf([issue])).toEqual(['Field required']);
  });

  test('are 50 at most, with messages of 200 characters at most', () => {
    const detail = Array.from({ length: 60 }, () => ({ loc: [], msg: 'x'.repeat(201), type: 'long' }));
    expect(messagesOf(detail)).toEqual(Array(50).fill('long'));
  });
});

test('Retry-After is seconds or a date, and anything else is nothing', () => {
  expect(readRetryAfter('2')).toBe(2000);
  expect(readRetryAfter(' 0 ')).toBe(0);
  expect(readRetryAfter('soon')).toBeNull();
  expect(readRetryAfter('')).toBeNull();
  expect(readRetryAfter(null)).toBeNull();
  expect(readRetryAfter(new Date(0).toUTCString())).toBe(0);
  const inAMinute = readRetryAfter(new Date(Date.now() + 60_000).toUTCString());
  expect(inAMinute).toBeGreaterThan(58_000);
  expect(inAMinute).toBeLessThanOrEqual(60_000);
});
