import { expect, test } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { apiKey, at, type OpenSandbox, openReceiver, openSandbox } from './support.ts';

const path = '/lab_report/v1/parser/job';
const pdf = new File(['%PDF-1.4 a report'], 'report.pdf', { type: 'application/pdf' });
const png = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])], 'page.png', {
  type: 'image/png',
});

interface Job {
  readonly id: string;
  readonly status: string;
  readonly failure_reason: string | null;
  readonly data: { readonly results: readonly Readonly<Record<string, unknown>>[] } | null;
  readonly needs_human_review: boolean;
  readonly is_reviewed: boolean;
}

async function upload(
  service: OpenSandbox,
  files: readonly File[],
  fields: Readonly<Record<string, string>> = {},
) {
  const body = new FormData();
  const all = { user_id: at(service.sandbox.users(), 0).userId, ...fields };
  for (const [name, value] of Object.entries(all)) if (value !== '') body.append(name, value);
  for (const file of files) body.append('file', file);
  const headers = { 'x-service-api-key': apiKey };
  const answer = await service.sandbox.fetch(
    new Request(`http://sandbox.test${path}`, { method: 'POST', headers, body }),
  );
  return { status: answer.status, body: (await answer.json()) as Job };
}

const read = (service: OpenSandbox, id: string) => service.ask<Job>('GET', `${path}/${id}`);

test('A report is started when it is uploaded, and completed with results later; webhooks say both', async () => {
  await using service = openSandbox({ speed: 40 });
  await using receiver = await openReceiver();
  service.sandbox.webhooks.register(receiver.url);
  const { status, body } = await upload(service, [pdf]);
  expect([status, body]).toMatchObject([
    200,
    { status: 'started', failure_reason: null, data: null, needs_human_review: false, is_reviewed: false },
  ]);

  await service.sandbox.webhooks.settled();
  const done = (await read(service, body.id)).body;
  expect(done).toMatchObject({ id: body.id, status: 'completed', failure_reason: null });
  expect(done.data?.results).toHaveLength(6);
  expect(at(done.data?.results ?? [], 0)).toMatchObject({
    value: expect.stringMatching(/^[\d.]+$/),
    units: expect.any(String),
    loinc_matches: [{ loinc_code: expect.stringMatching(/^\d+-\d$/), confidence_score: expect.any(Number) }],
  });
  const userId = at(service.sandbox.users(), 0).userId;
  expect(
    receiver.received.map(({ body: event }) => [event.event_type, event.user_id, event.data.status]),
  ).toEqual([
    ['lab_report.parsing_job.created', userId, 'started'],
    ['lab_report.parsing_job.updated', userId, 'completed'],
  ]);
});

test('No report has a negative concentration', async () => {
  await using service = openSandbox();
  const uploaded: Job[] = [];
  for (let index = 0; index < 60; index += 1) uploaded.push((await upload(service, [pdf])).body);
  await service.sandbox.webhooks.settled();
  const done = await Promise.all(uploaded.map(({ id }) => read(service, id)));
  const values = done.flatMap(({ body }) => body.data?.results ?? []).map(({ value }) => Number(value));
  expect(values).toHaveLength(360);
  expect(values.filter((value) => !(value >= 0))).toEqual([]);
});

test('A report that a person is to review is completed first and reviewed then', async () => {
  await using service = openSandbox({ speed: 40 });
  await using receiver = await openReceiver();
  service.sandbox.webhooks.register(receiver.url);
  await upload(service, [png, png], { needs_human_review: 'true' });
  await service.sandbox.webhooks.settled();
  expect(
    receiver.received.map(({ body: { data } }) => [data.status, data.needs_human_review, data.is_reviewed]),
  ).toEqual([
    ['started', true, false],
    ['completed', true, false],
    ['completed', true, true],
  ]);
});

test('A report that says so fails with its reason', async () => {
  await using service = openSandbox();
  const { body } = await upload(service, [
    new File(['%PDF-1.4 sandbox:low_quality'], 'r.pdf', { type: pdf.type }),
  ]);
  await service.sandbox.webhooks.settled();
  expect((await read(service, body.id)).body).toMatchObject({
    status: 'failed',
    failure_reason: 'low_quality',
    data: null,
  });
});

test.each([
  ['an empty file', [new File([], 'r.pdf', { type: pdf.type })], 400],
  ['another type', [new File(['GIF89a'], 'r.gif', { type: 'image/gif' })], 400],
  ['a type that the first bytes deny', [new File(['GIF89a'], 'r.png', { type: 'image/png' })], 400],
  ['a PDF beside an image', [pdf, png], 400],
  ['nine images', Array.from({ length: 9 }, () => png), 400],
  [
    'a file of more than 10 MB',
    [new File(['%PDF-', new Uint8Array(10 * 1024 * 1024)], 'r.pdf', { type: pdf.type })],
    413,
  ],
])('%s is refused', async (_name, files, status) => {
  await using service = openSandbox();
  expect((await upload(service, files)).status).toBe(status);
});

test('Missing parts and an unknown user are refused in the words of the service', async () => {
  await using service = openSandbox();
  const empty = await upload(service, [], { user_id: '' });
  expect(empty).toMatchObject({
    status: 422,
    body: {
      detail: [
        { loc: ['body', 'file'], type: 'missing' },
        { loc: ['body', 'user_id'], type: 'missing' },
      ],
    },
  });
  expect((await upload(service, [pdf], { user_id: crypto.randomUUID() })).status).toBe(404);
  expect((await service.ask('POST', path, { user_id: 'x' })).status).toBe(400);
  expect((await read(service, crypto.randomUUID())).status).toBe(404);
  expect((await read(service, 'not-a-uuid')).status).toBe(422);
});

test('A job that was at work when the sandbox ended is finished by the next one', async () => {
  using folder = makeFolder();
  const stateFile = folder.file('sandbox.json');
  const first = openSandbox({ stateFile, speed: 0.001 });
  const { body } = await upload(first, [pdf]);
  await first[Symbol.asyncDispose]();
  await using second = openSandbox({ stateFile });
  await second.sandbox.webhooks.settled();
  expect((await read(second, body.id)).body.status).toBe('completed');
});
