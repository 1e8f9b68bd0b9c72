import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { gatewayKey } from '../support/lab.ts';
import { listenAnywhere } from '../support/listening.ts';
import { type Phone, startPhone } from './react-native/phone.ts';
import { type Bench, startBench } from './support.ts';

const run = promisify(execFile);
const packages = fileURLToPath(new URL('.', import.meta.url));
const folder = makeFolder();

let bench: Bench;
let phone: Phone;
beforeAll(async () => {
  const bundle = folder.file('app.js');
  const metro = join(packages, 'node_modules/metro/src/cli.js');
  const options = ['--config', './react-native/metro.config.cjs', '--platform', 'android', '--dev', 'false'];
  await run(process.execPath, [metro, 'build', 'app.js', ...options, '--out', bundle], { cwd: packages });
  phone = startPhone(bundle);
  bench = await startBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const createClient = (more: object = {}) =>
  phone.app.createLabgraphClient({ url: bench.url, token: gatewayKey, ...more });

test('a query is answered, and a faulty one throws a LabgraphError with its code', async () => {
  expect(await createClient().query('{ viewer { kind } }')).toEqual({ viewer: { kind: 'TEAM' } });
  await expect(createClient().query('{ nowhere }')).rejects.toMatchObject({
    name: 'LabgraphError',
    code: 'GRAPHQL_VALIDATION_FAILED',
  });
});

test.each([
  ['before it is sent', async () => {}],
  ['while it waits for its answer', (server: Server) => once(server, 'request')],
])('a query that is aborted %s throws an AbortError', async (_when, moment) => {
  const silent = createServer(() => {});
  const url = await listenAnywhere(silent);
  const left = new phone.app.AbortController();
  const answer = createClient({ url }).query('{ viewer { kind } }', {}, { signal: left.signal });

  const refused = expect(answer).rejects.toMatchObject({ name: 'AbortError' });
  await moment(silent);
  left.abort();

  await refused;
  silent.close();
  silent.closeAllConnections();
});

test('an order is followed through the loss of the network, although a telephone sends the address of the gateway as its Origin', async () => {
  const { orderId } = bench.freshOrder();
  const text = `subscription Followed($orderId: ID!, $after: EventCursor) {
    orderUpdates(orderId: $orderId, after: $after) { cursor order { status { label } } }
  }`;
  const cuts: string[] = [];
  const onRetry = ({ code }: { readonly code: string }) => cuts.push(code);
  const updates = createClient().follow(text, { orderId }, { onRetry });
  const first = (await updates.next()).value.orderUpdates;

  phone.loseNetwork();
  await bench.world.step(orderId);
  const second = (await updates.next()).value.orderUpdates;
  await updates.return();

  expect(second.order).not.toEqual(first.order);
  expect(cuts).toEqual(['NETWORK_FAILED']);
  const origin = new URL(bench.url).origin;
  expect(phone.origins).toEqual([origin, origin]);
});

test('the pages of a lab report are sent as React Native names files', async () => {
  const { userId } = bench.freshOrder();
  const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);
  const pages = ['one', 'two'].map((name) => {
    const uri = `file:///pages/${name}.jpg`;
    phone.files.set(uri, Buffer.concat([jpeg, Buffer.from(name)]));
    return { uri, name: `${name}.jpg`, type: 'image/jpeg' };
  });
  const text = `mutation ($input: CreateLabReportInput!) {
    createLabReport(input: $input) { __typename ... on LabReportCreated { labReport { userId } } }
  }`;
  const client = createClient({ encode: phone.app.encodeFiles });

  const answer = await client.mutate(text, { input: { userId, files: pages, idempotencyKey: 'phone' } });

  expect(answer).toEqual({ createLabReport: { __typename: 'LabReportCreated', labReport: { userId } } });
});
