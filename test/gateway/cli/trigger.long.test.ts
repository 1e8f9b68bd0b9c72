import { expect, test } from 'vitest';
import { createLabgraphClient } from '../../../client/src/index.ts';
import { gatewayKey, serviceKey, startLab } from '../../support/lab.ts';
import { runLabgraph } from '../../support/labgraph-command.ts';

const document = 'subscription ($after: EventCursor) { events(after: $after) { cursor type payload } }';

interface Update {
  readonly events: { readonly type: string; readonly payload: { readonly marks: unknown } };
}

const families = [
  'labtest.order.created',
  'labtest.order.updated',
  'labtest.appointment.created',
  'labtest.appointment.updated',
  'labtest.result.critical',
  'lab_report.parsing_job.created',
  'lab_report.parsing_job.updated',
  'provider.connection.created',
  'provider.connection.error',
  'historical.data.activity.created',
  'historical.data.sleep.created',
  'historical.data.workouts.created',
  'daily.data.activity.created',
  'daily.data.activity.updated',
  'daily.data.sleep.created',
  'daily.data.sleep.updated',
  'daily.data.workouts.created',
  'daily.data.body.created',
  'daily.data.steps.created',
  'daily.data.steps.updated',
  'daily.data.calories_active.created',
  'daily.data.glucose.created',
  'daily.data.heartrate.created',
  'daily.data.workout_stream.created',
  'moon.phase.created',
];

test('25 events of every family are triggered and reach the gateway, with the fields that --set replaces', async () => {
  await using lab = await startLab();
  const env = { LABGRAPH_SANDBOX_URL: lab.serviceUrl, SANDBOX_API_KEY: serviceKey };
  const client = createLabgraphClient({ url: `${lab.url}/graphql`, token: gatewayKey });
  const { eventCursor } = await client.query<{ eventCursor: string }>('{ eventCursor }');
  const updates = client.follow<Update>(document, { after: eventCursor });
  const runs = [];
  for (const type of families) {
    runs.push(
      await runLabgraph({ args: ['trigger', type, '--set', 'marks.count=2', '--set', 'marks.text=x'], env }),
    );
  }
  await lab.sandbox.webhooks.settled();

  expect(runs.map(({ code, out }) => [code, JSON.parse(out).event_type])).toEqual(
    families.map((type) => [0, type]),
  );
  expect(lab.sandbox.webhooks.sent.map(({ outcome }) => outcome)).toEqual(families.map(() => 'delivered'));
  const reached = [];
  for await (const { events } of updates) {
    reached.push([events.type, events.payload.marks]);
    if (reached.length === families.length) break;
  }
  expect(reached).toEqual(families.map((type) => [type, { count: 2, text: 'x' }]));
  const refused = await runLabgraph({
    args: ['trigger', 'moon.phase.created'],
    env: { ...env, SANDBOX_API_KEY: 'x' },
  });
  expect(refused).toMatchObject({ code: 1, out: '', said: 'The sandbox refuses the key.\n' });
  const misnamed = await runLabgraph({ args: ['trigger', 'moon.phase.created', '--order', '7'], env });
  expect(misnamed).toMatchObject({ code: 1, said: expect.stringContaining('--user and --order take ids') });
}, 240_000);
