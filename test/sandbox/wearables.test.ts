import { expect, test } from 'vitest';
import { at, openReceiver, openSandbox } from './support.ts';

test('A wearer’s examples go out as webhooks about that user, each under the message id of the answer', async () => {
  await using service = openSandbox();
  await using receiver = await openReceiver();
  service.sandbox.webhooks.register(receiver.url);
  const { userId } = at(service.sandbox.users(), 2);
  const answer = await service.ask<{ sent: { event_type: string; message_id: string }[] }>(
    'POST',
    '/sandbox/wearables',
    { user_id: userId },
  );
  await service.sandbox.webhooks.settled();

  expect(answer.body.sent.map((sent) => sent.event_type)).toEqual([
    'provider.connection.created',
    'historical.data.activity.created',
    'daily.data.activity.created',
    'daily.data.activity.created',
    'daily.data.steps.created',
    'daily.data.glucose.created',
    'daily.data.workout_stream.created',
  ]);
  expect(receiver.received.map(({ id }) => id).toSorted()).toEqual(
    answer.body.sent.map((sent) => sent.message_id).toSorted(),
  );
  expect(new Set(receiver.received.map(({ body }) => body.user_id))).toEqual(new Set([userId]));
  const activity = receiver.received.find(({ body }) => body.event_type === 'daily.data.activity.created');
  expect(activity?.body.data).toMatchObject({ user_id: userId, source: { slug: 'garmin', name: 'Garmin' } });
  expect(activity?.body.data).toMatchObject({
    created_at: expect.stringContaining('T'),
    updated_at: expect.stringContaining('T'),
  });
  const connection = receiver.received.find(({ body }) => body.event_type === 'provider.connection.created');
  expect(connection?.body.data).toMatchObject({
    external_user_id: null,
    resource_availability: { activity: { status: 'available' } },
  });
});

test('The control knows its users and asks for the key', async () => {
  await using service = openSandbox();
  const unknown = await service.ask('POST', '/sandbox/wearables', { user_id: crypto.randomUUID() });
  const nobody = await service.ask('POST', '/sandbox/wearables', {});
  const stranger = await service.sandbox.fetch(
    new Request('http://sandbox.test/sandbox/wearables', { method: 'POST', body: '{}' }),
  );
  expect([unknown.status, nobody.status, stranger.status]).toEqual([404, 422, 401]);
});

test('The stream of an announced workout has columns of one length; others are not found', async () => {
  await using service = openSandbox();
  await using receiver = await openReceiver();
  service.sandbox.webhooks.register(receiver.url);
  await service.ask('POST', '/sandbox/wearables', { user_id: at(service.sandbox.users(), 0).userId });
  await service.sandbox.webhooks.settled();
  const ready = receiver.received.find(({ body }) => body.event_type.includes('workout_stream'));
  const path = `/v2/timeseries/workouts/${String(ready?.body.data.workout_id)}/stream`;
  const { status, body } = await service.ask<Record<string, unknown[]>>('GET', path);
  expect(status).toBe(200);
  expect(new Set([body.time?.length, body.heartrate?.length, body.lat?.length])).toEqual(new Set([120]));
  expect(await service.ask('GET', path)).toEqual({ status, body });
  const missing = `/v2/timeseries/workouts/${crypto.randomUUID()}/stream`;
  expect((await service.ask('GET', missing)).status).toBe(404);
  expect((await service.ask('GET', '/v2/timeseries/workouts/run/stream')).status).toBe(422);
});
