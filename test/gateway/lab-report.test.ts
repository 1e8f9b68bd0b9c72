import { expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

const createLabReport = `mutation ($input: CreateLabReportInput!) { createLabReport(input: $input) {
  __typename
  ... on LabReportCreated { labReport { id userId status statusRaw review results { name } } }
  ... on UserError { code message }
  ... on InputRejected { issues { path code message } }
} }`;
const readReport = `query ($id: ID!) { labReport(id: $id) {
  id userId user { id } status statusRaw failureReason review needsHumanReview isReviewed
  metadata { patientFirstName dob labName reportedOn }
  results { name value type unit minRange maxRange isAboveRange interpretation sampleType
    measurementKind sensitivity loincMatchStatus loincMatches { code name confidence aliases } }
} }`;
const uploadPath = '/lab_report/v1/parser/job';
const scopes = ['read:orders', 'read:results', 'write:lab-reports'];
const pdf = new File(['%PDF-1.4 a report'], 'Avery Sample.pdf', { type: 'application/pdf' });
const jpeg = new File([new Uint8Array([0xff, 0xd8, 0xff, 0xe0])], 'page.jpg', { type: 'image/jpeg' });
const png = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])], 'page.png');

interface Upload {
  readonly files?: readonly File[];
  readonly token?: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

/** A GraphQL multipart request as clients send it. */
function multipart({ files = [pdf], input = {} }: Upload, userId: string | undefined): FormData {
  const body = new FormData();
  const variables = { input: { userId, idempotencyKey: 'report-1', ...input, files: files.map(() => null) } };
  body.append('operations', JSON.stringify({ query: createLabReport, variables }));
  body.append(
    'map',
    JSON.stringify(Object.fromEntries(files.map((_, n) => [n, [`variables.input.files.${n}`]]))),
  );
  for (const [n, file] of files.entries()) body.append(String(n), file);
  return body;
}

async function send(lab: Lab, body: BodyInit, token = gatewayKey) {
  const response = await fetch(`${lab.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    body,
  });
  return { status: response.status, ...(await response.json()) };
}

async function upload(lab: Lab, options: Upload = {}) {
  const answer = await send(lab, multipart(options, lab.sandbox.users()[0]?.userId), options.token);
  return answer.data?.createLabReport ?? answer;
}

async function read(lab: Lab, id: string, token = gatewayKey) {
  return await lab.query(readReport, { variables: { id }, token });
}

const posts = (lab: Lab) => lab.sandbox.calls.filter((call) => call === `POST ${uploadPath}`).length;

test.each([
  ['a PDF', [pdf]],
  ['a JPEG and two PNGs', [jpeg, png, png]],
])(
  '%s is uploaded, read by the service, and shown with results, ranges and LOINC matches',
  async (_name, files) => {
    await using lab = await startLab();
    const userId = lab.sandbox.users()[0]?.userId;
    const created = await upload(lab, { files });
    expect(created).toMatchObject({
      __typename: 'LabReportCreated',
      labReport: { userId, status: 'STARTED', statusRaw: 'started', review: 'NOT_REQUESTED', results: null },
    });
    await lab.sandbox.webhooks.settled();
    const { data, errors } = await read(lab, created.labReport.id);
    expect(errors).toBeUndefined();
    expect(data.labReport).toMatchObject({
      id: created.labReport.id,
      userId,
      user: { id: userId },
      status: 'COMPLETED',
      failureReason: null,
      review: 'NOT_REQUESTED',
      metadata: { patientFirstName: 'Avery', dob: '1988-04-12', labName: 'Pretend Pathology (invented)' },
    });
    expect(data.labReport.results).toHaveLength(6);
    expect(data.labReport.results[0]).toMatchObject({
      value: expect.stringMatching(/^[\d.]+$/),
      type: 'NUMERIC',
      unit: expect.any(String),
      sampleType: 'SERUM_PLASMA_BLOOD',
      sensitivity: 'UNKNOWN',
      loincMatches: [
        { code: expect.stringMatching(/^\d+-\d$/), confidence: expect.any(Number), aliases: [] },
      ],
    });
  },
);

test('a large file reaches the service whole', async () => {
  await using lab = await startLab();
  const large = new File(['%PDF-', new Uint8Array(10 * 1024 * 1024 - 5)], 'large.pdf');
  expect((await upload(lab, { files: [large] })).__typename).toBe('LabReportCreated');
});

test('a report that a person is to look at is pending first and done then, in the stream of the team', async () => {
  await using lab = await startLab({ speed: 40 });
  const events = await subscribeOverSse({
    url: lab.url,
    token: gatewayKey,
    query: `subscription { events { __typename type userId
      ... on LabReportChanged { labReport { id userId status review results { name } } } } }`,
  });
  const { labReport } = await upload(lab, { input: { needsHumanReview: true } });
  const seen = [await events.next(), await events.next(), await events.next()].map(
    (item) => item?.data.events,
  );
  expect(
    seen.map(({ __typename, type, labReport: { status, review, results } }) => [
      __typename,
      type,
      status,
      review,
      results?.length ?? null,
    ]),
  ).toEqual([
    ['LabReportChanged', 'lab_report.parsing_job.created', 'STARTED', 'PENDING', null],
    ['LabReportChanged', 'lab_report.parsing_job.updated', 'COMPLETED', 'PENDING', 6],
    ['LabReportChanged', 'lab_report.parsing_job.updated', 'COMPLETED', 'DONE', 6],
  ]);
  expect(new Set(seen.map((event) => event.labReport.id))).toEqual(new Set([labReport.id]));
  expect(new Set(seen.map((event) => event.labReport.userId))).toEqual(new Set([labReport.userId]));
  await events.close();
});

test('a report that cannot be read says why', async () => {
  await using lab = await startLab();
  const { labReport } = await upload(lab, { files: [new File(['%PDF-1.4 sandbox:not_english'], 'r.pdf')] });
  await lab.sandbox.webhooks.settled();
  expect((await read(lab, labReport.id)).data.labReport).toMatchObject({
    status: 'FAILED',
    failureReason: 'NOT_ENGLISH',
    metadata: null,
    results: null,
  });
});

const tooLarge = new File(['%PDF-', new Uint8Array(10 * 1024 * 1024)], 'r.pdf');
const large = new File([png, new Uint8Array(8 * 1024 * 1024)], 'r.png');
const almostLarge = new File([png, new Uint8Array(7_775_000)], 'r.png');
test.each([
  ['no file', [], ['files'], 'REQUIRED', 'Give at least one file.'],
  [
    'an empty file',
    [new File([], 'r.pdf', { type: 'application/pdf' })],
    ['files', '0'],
    'REQUIRED',
    'The file is empty.',
  ],
  [
    'a file that only says it is a PDF',
    [new File(['GIF89a'], 'r.pdf', { type: 'application/pdf' })],
    ['files', '0'],
    'INVALID',
    'The file is neither a PDF nor a JPEG nor a PNG.',
  ],
  ['a file of more than 10 MB', [tooLarge], ['files', '0'], 'TOO_LONG', 'A file may have 10 MB at most.'],
  ['nine images', Array.from({ length: 9 }, () => jpeg), ['files'], 'TOO_LONG', 'Give 8 files at most.'],
  [
    'images of more than 31 MB',
    Array.from({ length: 4 }, () => almostLarge),
    ['files'],
    'TOO_LONG',
    'The files may have 31 MB together at most.',
  ],
  [
    'a PDF beside an image',
    [jpeg, pdf],
    ['files'],
    'CONFLICT',
    'Give a PDF alone; only images can come together.',
  ],
])('%s is refused before the service is asked', async (_name, files, path, code, message) => {
  await using lab = await startLab();
  expect(await upload(lab, { files })).toMatchObject({
    __typename: 'InputRejected',
    code: 'INPUT_REJECTED',
    issues: [{ path, code, message }],
  });
  expect(lab.sandbox.calls).toEqual([]);
});

test.each([
  [0, 'REQUIRED'],
  [256, 'TOO_LONG'],
])('an idempotency key of %d characters is refused as %s', async (length, code) => {
  const idempotencyKey = 'k'.repeat(length);
  await using lab = await startLab();
  expect(await upload(lab, { input: { idempotencyKey } })).toMatchObject({
    __typename: 'InputRejected',
    issues: [{ path: ['idempotencyKey'], code }],
  });
});

test('all faults are reported at once, each with its path', async () => {
  await using lab = await startLab();
  const rejected = await upload(lab, {
    files: [jpeg, new File(['x'], 'x'), new File([], 'e')],
    input: { idempotencyKey: ' ' },
  });
  expect(rejected.issues.map(({ path }: { path: string[] }) => path)).toEqual([
    ['files', '1'],
    ['files', '2'],
    ['idempotencyKey'],
  ]);
});

test('a request of more than 32 MB is refused as a whole', async () => {
  await using lab = await startLab();
  const answer = await upload(lab, { files: [large, large, large, large] });
  expect(answer.status).toBe(413);
  expect(answer.errors[0].extensions.code).toBe('BAD_REQUEST');
});

test('the same key with the same file uploads once, with another file it is a conflict', async () => {
  await using lab = await startLab();
  const [first, second] = [await upload(lab), await upload(lab)];
  expect(second).toEqual(first);
  expect((await upload(lab, { files: [png] })).__typename).toBe('IdempotencyConflict');
  expect((await upload(lab, { input: { needsHumanReview: true } })).__typename).toBe('IdempotencyConflict');
  expect(posts(lab)).toBe(1);
});

test('after a lost answer nothing is sent again: the key stays unsettled', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({ method: 'POST', path: uploadPath, times: 1, effect: { kind: 'lostAnswer' } });
  expect((await upload(lab)).errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
  const again = await upload(lab);
  expect(again.errors[0].extensions).toMatchObject({ code: 'IDEMPOTENCY_UNSETTLED' });
  expect(again.errors[0].extensions.retryAfterSeconds).toBeGreaterThan(50);
  expect(posts(lab)).toBe(1);
});

test("the service's own refusals come back as data", async () => {
  await using lab = await startLab();
  const fault = (status: number, body: unknown) =>
    lab.sandbox.faults.add({
      method: 'POST',
      path: uploadPath,
      times: 1,
      effect: { kind: 'answer', status, body: JSON.stringify(body) },
    });
  fault(413, {});
  expect(await upload(lab)).toMatchObject({ __typename: 'InputRejected', issues: [{ path: ['files'] }] });
  fault(422, {
    detail: [{ type: 'value_error', loc: ['body', 'file', 0], msg: 'Unreadable file', input: 'secret' }],
  });
  const rejected = await upload(lab);
  expect(rejected).toMatchObject({ __typename: 'InputRejected', issues: [{ path: ['files', '0'] }] });
  expect(JSON.stringify(rejected)).not.toContain('secret');
  fault(400, { detail: 'Human review is not enabled' });
  expect(await upload(lab)).toMatchObject({ __typename: 'InputRejected', issues: [] });
  fault(403, { detail: 'Not enabled' });
  expect((await upload(lab)).__typename).toBe('FeatureNotEnabled');
  expect(await upload(lab, { input: { userId: crypto.randomUUID() } })).toMatchObject({
    __typename: 'NotFound',
  });
});

test('what a file is called and claims to be does not matter', async () => {
  await using lab = await startLab();
  const named = new File([jpeg], 'report.txt', { type: 'text/html' });
  expect((await upload(lab, { files: [named] })).__typename).toBe('LabReportCreated');
});

test('a viewer uploads and reads its own reports; for anybody else they do not exist', async () => {
  await using lab = await startLab();
  const [mine, theirs] = lab.sandbox.users();
  const token = await lab.tokenFor(mine?.userId ?? '', { scopes });
  const stranger = await lab.tokenFor(theirs?.userId ?? '', { scopes });
  lab.sandbox.webhooks.knobs.drop = () => true;
  const { labReport } = await upload(lab, { token });
  expect((await read(lab, labReport.id, token)).data.labReport.id).toBe(labReport.id);
  lab.sandbox.clearCalls();
  expect(await read(lab, labReport.id, stranger)).toEqual(await read(lab, crypto.randomUUID(), stranger));
  expect(lab.sandbox.calls).toEqual([]);

  const forOther = await upload(lab, { token, input: { userId: theirs?.userId } });
  expect(forOther).toEqual(await upload(lab, { token, input: { userId: crypto.randomUUID() } }));
  expect(forOther.__typename).toBe('NotFound');
  expect(posts(lab)).toBe(0);
});

test('a report that was uploaded elsewhere belongs to the user its webhook names', async () => {
  await using lab = await startLab();
  const [mine, theirs] = lab.sandbox.users();
  const tokens = [mine, theirs].map((user) => lab.tokenFor(user?.userId ?? '', { scopes }));
  const body = new FormData();
  body.append('user_id', mine?.userId ?? '');
  body.append('file', pdf);
  lab.sandbox.webhooks.knobs.drop = () => true;
  const headers = { 'x-service-api-key': 'canary-service-key-4f1d9a' };
  const send = () => fetch(`${lab.serviceUrl}${uploadPath}`, { method: 'POST', headers, body });
  const unreported = await (await send()).json();
  const [token = '', stranger = ''] = await Promise.all(tokens);
  expect((await read(lab, unreported.id, token)).data.labReport).toBeNull();
  expect((await read(lab, unreported.id)).data.labReport).toMatchObject({ id: unreported.id, userId: null });

  lab.sandbox.webhooks.knobs.drop = 0;
  const reported = await (await send()).json();
  await lab.sandbox.webhooks.settled();
  expect((await read(lab, reported.id, token)).data.labReport).toMatchObject({ userId: mine?.userId });
  expect((await read(lab, reported.id, stranger)).data.labReport).toBeNull();
});

test('a token without the scope, or limited to some orders, neither uploads nor reads reports', async () => {
  await using lab = await startLab();
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  const { labReport } = await upload(lab);
  const plain = await lab.tokenFor(userId);
  const refused = await upload(lab, { token: plain });
  expect(refused).toMatchObject({ status: 403, errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  expect((await read(lab, labReport.id, plain)).errors?.[0].extensions.code).toBe('FORBIDDEN');
  const limited = await lab.tokenFor(userId, { scopes, orderIds: [lab.sandbox.orders()[0]?.orderId] });
  expect((await upload(lab, { token: limited })).errors[0].extensions.code).toBe('FORBIDDEN');
  expect((await read(lab, labReport.id, limited)).data.labReport).toBeNull();
  expect(posts(lab)).toBe(1);
});

test('unknown values and missing fields of a report leave the rest of it readable', async () => {
  await using lab = await startLab();
  const { labReport } = await upload(lab);
  await lab.sandbox.webhooks.settled();
  const answer = (body: unknown) => {
    lab.sandbox.faults.clear();
    const effect = { kind: 'answer', status: 200, body: JSON.stringify(body) } as const;
    lab.sandbox.faults.add({ method: 'GET', path: uploadPath, effect });
    return read(lab, labReport.id);
  };
  const results = [
    {},
    3,
    { test_name: 'X', value: 7, loinc_matches: [null, {}], interpretation: 'odd', sample_type: 'air' },
  ];
  const strange = await answer({
    job_id: labReport.id,
    status: 'dreaming',
    failure_reason: 1,
    data: { results },
  });
  expect(strange.errors).toBeUndefined();
  expect(strange.data.labReport).toMatchObject({
    id: labReport.id,
    status: null,
    statusRaw: 'dreaming',
    failureReason: null,
    review: null,
    metadata: null,
    results: [
      { name: null, value: null, loincMatches: [] },
      {
        name: 'X',
        value: '7',
        interpretation: null,
        sampleType: null,
        loincMatches: [{ code: null, aliases: [] }],
      },
    ],
  });
  // The specification names the status in words.
  for (const status of ['pending_review', 'pending review', 'PENDING_REVIEW', 'pending-review']) {
    const waiting = await answer({ id: labReport.id, status });
    expect(waiting.data.labReport).toMatchObject({
      status: 'PENDING_REVIEW',
      statusRaw: status,
      review: 'PENDING',
    });
  }
  for (const body of [{}, [], null, { id: 4.5 }]) {
    const broken = await answer(body);
    expect(broken.data.labReport).toBeNull();
  }
});

test('a service that fails or answers something else is reported as such', async () => {
  await using lab = await startLab();
  const fault = (effect: Parameters<Lab['sandbox']['faults']['add']>[0]['effect']) =>
    lab.sandbox.faults.add({ path: uploadPath, times: 1, ...(effect ? { effect } : {}) });
  const codeOf = async (idempotencyKey: string) =>
    (await upload(lab, { input: { idempotencyKey } })).errors[0].extensions.code;
  fault({ kind: 'serverError' });
  expect([await codeOf('one'), await codeOf('one')]).toEqual([
    'UPSTREAM_UNAVAILABLE',
    'IDEMPOTENCY_UNSETTLED',
  ]);
  fault({ kind: 'answer', status: 200, body: '{"status":"started"}' });
  expect([await codeOf('two'), await codeOf('two')]).toEqual(['UPSTREAM_UNREADABLE', 'UPSTREAM_UNREADABLE']);
  expect(posts(lab)).toBe(2);
});

test('a file that is no part of a multipart request is refused', async () => {
  await using lab = await startLab();
  const input = { userId: crypto.randomUUID(), idempotencyKey: 'k', files: ['/etc/passwd'] };
  const answer = await lab.query(createLabReport, { variables: { input } });
  expect(answer.errors?.[0].extensions.code).toBe('BAD_USER_INPUT');
});

const operations = JSON.stringify({ query: '{ viewer { kind } }', variables: { a: null } });
test.each([
  ['no operations', { map: '{}' }],
  ['operations that are no JSON', { operations: '{', map: '{}' }],
  ['no map', { operations }],
  ['a map to a file that is not there', { operations, map: '{"0":["variables.a"]}' }],
  ['a map outside the variables', { operations, map: '{"file":["query"]}', file: pdf }],
  ['a map into the prototype', { operations, map: '{"file":["variables.__proto__.a"]}', file: pdf }],
  ['a map that replaces a value', { operations, map: '{"file":["variables"]}', file: pdf }],
  ['operations as long as a file', { operations: JSON.stringify({ query: ' '.repeat(200_000) }), map: '{}' }],
])('a multipart request with %s is a bad request', async (_name, parts) => {
  await using lab = await startLab();
  const body = new FormData();
  for (const [name, part] of Object.entries(parts)) body.append(name, part);
  expect(await send(lab, body)).toMatchObject({
    status: 400,
    errors: [{ extensions: { code: 'BAD_REQUEST' } }],
  });
});

test('the guards hold for multipart requests too, and other requests stay small', async () => {
  await using lab = await startLab();
  const deep = `{ user(id: "${crypto.randomUUID()}") { orders { nodes { user ${'{ orders { nodes { user '.repeat(6)}{ id }${' } } }'.repeat(6)} } } } }`;
  const body = new FormData();
  body.append('operations', JSON.stringify({ query: deep }));
  body.append('map', '{}');
  expect((await send(lab, body)).errors[0].extensions.code).toBe('QUERY_TOO_COSTLY');

  const long = await lab.query(`{ viewer { kind } } #${'x'.repeat(120_000)}`);
  expect(long.status).toBe(413);
});
