import { expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';

test('one query returns users with their orders, events and markers with LOINC codes', async () => {
  await using lab = await startLab();
  const answer = await lab.query(`{
    users(first: 20) { totalCount nodes { clientUserId orders(first: 20) { nodes {
      events { id status { raw } }
      markers(first: 20) { nodes { name expectedResults { loinc { code } } } }
    } } } }
  }`);
  expect(answer.errors).toBeUndefined();
  expect(answer.data.users.totalCount).toBe(lab.sandbox.users().length);
});
