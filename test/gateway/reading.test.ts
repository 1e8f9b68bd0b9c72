import { expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';

test('a thing that lacks one of its lists is shown with an empty one', async () => {
  await using lab = await startLab();
  const answers: readonly (readonly [RegExp, unknown])[] = [
    [/^\/v2\/user\//, { users: [{ user_id: 'u' }] }],
    [/^\/v3\/lab_tests\/markers/, { markers: [{ id: 1 }] }],
    [/^\/v3\/lab_tests\/labs/, [{ id: 2 }]],
  ];
  for (const [path, body] of answers) {
    lab.sandbox.faults.add({ path, effect: { kind: 'answer', status: 200, body: JSON.stringify(body) } });
  }
  const answer = await lab.query(`{
    users { nodes { id connectedSources { createdAt } } }
    markers { nodes { id expectedResults { id } } }
    labs { id collectionMethods }
  }`);
  expect(answer).toMatchObject({
    status: 200,
    data: {
      users: { nodes: [{ id: 'u', connectedSources: [] }] },
      markers: { nodes: [{ id: '1', expectedResults: [] }] },
      labs: [{ id: '2', collectionMethods: [] }],
    },
  });
});

test('a number too big for an Int, a day that is none and a time that is none are null', async () => {
  await using lab = await startLab();
  const user = {
    user_id: 'u',
    created_on: 'yesterday',
    fallback_birth_date: { value: '2020-02-30', updated_at: '2026-13-01' },
  };
  const answers: readonly (readonly [RegExp, unknown])[] = [
    [/^\/v2\/user\//, { users: [user], total: 2 ** 40 }],
    [/^\/v3\/lab_tests\/markers/, { markers: [{ id: 1, lab_id: 2 ** 40 }] }],
  ];
  for (const [path, body] of answers) {
    lab.sandbox.faults.add({ path, effect: { kind: 'answer', status: 200, body: JSON.stringify(body) } });
  }
  const answer = await lab.query(`{
    users { totalCount nodes { createdAt fallbackBirthDate { value updatedAt } } }
    markers { nodes { id labId } }
  }`);
  expect(answer).toMatchObject({
    status: 200,
    data: {
      users: {
        totalCount: null,
        nodes: [{ createdAt: null, fallbackBirthDate: { value: null, updatedAt: null } }],
      },
      markers: { nodes: [{ id: '1', labId: null }] },
    },
  });
  expect(answer.errors).toBeUndefined();
});
