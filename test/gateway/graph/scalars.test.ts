import { expect, test } from 'vitest';
import { startLab } from '../../support/lab.ts';

test.each([
  ['EventCursor', 'subscription ($value: EventCursor) { events(after: $value) { type } }', 3],
  [
    'File',
    'mutation ($value: File!) { createLabReport(input: { userId: "x", files: [$value], idempotencyKey: "k" }) { __typename } }',
    'a path',
  ],
])('a variable that is no %s is bad input and not a fault of the gateway', async (_name, query, value) => {
  await using lab = await startLab();
  const answer = await lab.query(query, { variables: { value } });
  expect(answer.errors?.[0].extensions.code).toBe('BAD_USER_INPUT');
  expect(lab.logged.join('')).not.toContain('graphql.failed');
});
