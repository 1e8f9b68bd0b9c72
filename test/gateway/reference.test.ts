import { describe, expect, test } from 'vitest';
import { fingerprintOf } from '../../gateway/domain/order/place/actions-reference.ts';
import { startLab } from '../support/lab.ts';
import { create } from '../support/ordering.ts';

/** A repeated call is recognised by its input, by a later version of the gateway too. */

const input = { userId: 'u', at: new Date(0), orderSet: { labTestIds: ['t'], addOn: null }, priority: false };

describe('the fingerprint of an input', () => {
  test.each([
    ['a part that is null', { passthrough: null }],
    ['an empty list', { consents: [] }],
    ['a part with nothing in it', { insurance: { company: null, plans: [] } }],
    ['a nested part that is null', { orderSet: { labTestIds: ['t'], addOn: null, panel: null } }],
  ])('is the same with %s', (_name, more) => {
    expect(fingerprintOf({ ...input, ...more })).toBe(fingerprintOf(input));
  });

  test.each([
    ['false in place of true', { priority: true }],
    ['another instant', { at: new Date(1) }],
    ['an empty text', { passthrough: '' }],
    ['a zero', { size: 0 }],
    ['another item of a list', { orderSet: { labTestIds: ['t', 's'], addOn: null } }],
  ])('differs with %s', (_name, more) => {
    expect(fingerprintOf({ ...input, ...more })).not.toBe(fingerprintOf(input));
  });
});

test('a call that is repeated with nulls and empty lists in place of what was left out is the same call', async () => {
  await using lab = await startLab();
  const first = await create(lab);
  const again = await create(lab, { icdCodes: [], passthrough: null, consents: [] });
  expect(again).toEqual(first);
});
