import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readReason } from '../../../gateway/service/reason.ts';
import { json } from '../../support/misbehaving-service.ts';
import { type SpoiltLab, startSpoiltLab } from '../../support/spoilt-lab.ts';

const plain = [
  'Human review is not enabled',
  'add_on takes either marker_ids or provider_ids',
  'No slots found. Not all PSCs support scheduling appointments',
  "This order doesn't exist",
  'At most 3 site codes',
  'The quota of users is used up.',
  "'zip_code' is required (see site_codes)",
];

/** Values of a request, and the same in other spellings. */
const otherSpellings: readonly (readonly [string, string])[] = [
  ['José', 'jose'],
  ['jose', 'josé'],
  ['Müller', 'mueller'],
  ['Strauß', 'strauss'],
  ['Søren', 'soren'],
  ['de la Cruz', 'delacruz'],
  ['NÚÑEZ', 'nunez'],
];

const call = {
  query: { lab: 'quest' },
  body: {
    collection_method: 'testkit',
    patient_details: { first_name: 'An', last_name: 'de la cruz', notes: ['please, with care'] },
  },
};

/** Texts with somebody's values in them, and what is left of each. */
const personal: readonly (readonly [string, string | null])[] = [
  ['Jane Doe may not', '… may not'],
  ['The patient de la cruz may not', 'The patient … may not'],
  ['An order for de-la-cruz exists', 'An order for … exists'],
  ['jane.doe@example.com and +1 602 555 0177 are taken', '… and +… are taken'],
  ['Born on 1961-07-13, at 85004 Phoenix', '… on …, at …'],
  ['Order 6f1d2c3b-7a58-4c0e-9d11-0a1b2c3d4e5f is not yours', 'Order … is not yours'],
  ['The name "jane doe" and \'doe\' and “jane” are taken', 'The name … and … and … are taken'],
  ['ist nicht möglich für josé', 'ist nicht …'],
  ['José', null],
  ['Jane Doe', null],
];

describe('the reason of a refusal', () => {
  test.each(plain)('%s: is passed on as it is', (text) => {
    expect(readReason({ detail: text }, call)).toBe(text);
    expect(readReason({ detail: { error_type: 'X', error_message: text } }, call)).toBe(text);
  });

  test.each(personal)('%s: loses what may be about a person', (text, left) => {
    expect(readReason({ detail: text }, call)).toBe(left);
  });

  test.each(otherSpellings)('has no value of the request in another spelling: %s, %s', (value, said) => {
    expect(readReason({ detail: `The patient ${said} may not` }, { body: { name: value } })).toBe(
      'The patient … may not',
    );
  });

  test.each([
    ['no body', null],
    ['a list', { detail: [{ msg: 'No', input: 'jane' }] }],
    ['an object', { detail: { input: 'jane', msg: 'no' } }],
    ['another field', { message: 'no jane', input: 'jane' }],
    ['a page', { detail: '<html>jane</html>' }],
    ['JSON as text', { detail: '{"input": "jane"}' }],
    ['a long text', { detail: 'no '.repeat(400) }],
    ['nothing', { detail: ' ' }],
  ])('is not taken from %s', (_name, body) => {
    expect(readReason(body, call)).toBeNull();
  });

  test('is one line of at most 300 characters without control characters', () => {
    const reason = readReason({ detail: `not\r\n\u0000\u001b[31m\u202e ${'so '.repeat(250)}` }, call) ?? '';
    expect(reason).toMatch(/^not [^\p{C}]* so so[^\p{C}]*…$/u);
    expect(Array.from(reason)).toHaveLength(300);
  });

  test('has no word of a value of the request that is no ordinary word, whatever both are', () => {
    const value = fc.stringMatching(/^[a-z]{4,12}x[a-z]{2,5}$/);
    const text = fc.tuple(fc.string(), fc.constantFrom(' ', ', ', '"', '/', '_', '-', "'"), fc.string());
    fc.assert(
      fc.property(value, text, (said, [before, between, after]) => {
        const detail = `${before}${between}${said}${between}${after}`;
        const words = readReason({ detail }, { body: { name: said } })
          ?.toLowerCase()
          .match(/\p{L}+/gu);
        expect(words ?? []).not.toContain(said);
      }),
    );
  });
});

describe('a refusal by the service', () => {
  const reason = 'The order was sent to the lab already';
  const id = crypto.randomUUID();
  let lab: SpoiltLab;

  beforeAll(async () => {
    lab = await startSpoiltLab();
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  function spoil(at: RegExp, status: number, detail: unknown) {
    lab.spoil({ at, isDone: false, answer: json({ detail }, status) });
  }

  test.each([400, 409])(
    'of a mutation (%i) brings the reason in the message of the refusal',
    async (status) => {
      const { orderId } = lab.sandbox.orders()[0] ?? { orderId: '' };
      spoil(/POST .*\/cancel/, status, `${reason} for Jane Doe`);
      const { data } = await lab.query(
        `mutation { cancelOrder(id: "${orderId}") { ... on UserError { code message } } }`,
      );
      expect(data.cancelOrder).toEqual({
        code: 'CANCEL_REFUSED',
        message: expect.stringMatching(/ The service says: "The order was sent to the lab already for …"$/),
      });
    },
  );

  test.each([
    [400, 'UPSTREAM_REJECTED', reason],
    [403, 'UPSTREAM_FORBIDDEN', reason],
    [422, 'UPSTREAM_REJECTED', reason],
    [401, 'UPSTREAM_UNAUTHORIZED', undefined],
    [503, 'UPSTREAM_UNAVAILABLE', undefined],
  ])('of a read (%i) brings it beside the code', async (status, code, serviceMessage) => {
    lab.spoil({ at: /GET .*lab/, isDone: false, answer: json({ detail: reason }, status), times: 3 });
    const { errors } = await lab.query('{ labs { id } }');
    lab.mend();
    expect(errors?.[0].extensions).toEqual({
      code,
      ...(serviceMessage === undefined ? {} : { serviceMessage }),
    });
  });

  test('with 404 looks like any other thing that is not there', async () => {
    spoil(/GET .*order/, 404, reason);
    expect(await lab.query(`{ order(id: "${id}") { id } }`)).toEqual({ status: 200, data: { order: null } });
  });

  test('is a line of the log at the level debug, without its words', async () => {
    const before = lab.logged.length;
    spoil(/GET .*lab/, 400, reason);
    await lab.query('{ labs { id } }');
    const lines = lab.logged.slice(before).map((line) => JSON.parse(line));
    expect(lines.filter(({ event }) => event === 'service.failed')).toEqual([
      {
        ...{ level: 20, time: expect.any(String), event: 'service.failed', requestId: expect.any(String) },
        ...{ operation: expect.any(String), method: 'GET', code: 'UPSTREAM_REJECTED', status: 400 },
        characters: reason.length,
      },
    ]);
  });
});
