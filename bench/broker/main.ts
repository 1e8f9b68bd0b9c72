import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { makeSecrets } from '../../test/support/fleet.ts';
import { type GatewayProcess, startGatewayProcess } from '../../test/support/gateway-process.ts';
import { createWorld, planWorld, type World } from '../../test/support/order-world.ts';
import { connectToRabbit, prepareRabbit } from '../../test/support/rabbitmq.ts';
import { formatNumber, formatQuantiles, type Row, toTable } from '../support/figures.ts';
import { describeMachine } from '../support/machine.ts';
import { readUsage } from '../support/process-usage.ts';

const usage = `npm run bench -- broker [--short]

Starts a rabbitmq-server and a gateway over SQLite, all on this machine. First the gateway consumes a queue that is full,
then messages that are published at a steady rate. --short shows that the command works; its figures mean little.`;

interface Plan {
  /** Messages in the queue before the gateway starts. The first fifth is its warm-up. */
  readonly backlog: number;
  readonly perSecond: number;
  readonly seconds: number;
}
const full: Plan = { backlog: 50_000, perSecond: 500, seconds: 30 };
const short: Plan = { backlog: 2000, perSecond: 200, seconds: 2 };

/** Runs the bench and prints its table. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { short: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const plan = values.short ? short : full;
  await using stage = await startStage();
  const note = (what: string) => process.stderr.write(`${what} ...\n`);
  note('filling the queue');
  await stage.publishAll(plan.backlog);
  note('consuming the queue');
  const gateway = await stage.startGateway();
  const rows = await measureBacklog(gateway, plan);
  note('publishing at a steady rate');
  const steady = await measureSteady(stage, gateway, plan);
  process.stdout.write(`\n${toTable([...rows, steady])}\n\n${describeMachine()}\n`);
}

const queue = 'events';
/** Publisher confirms awaited at once. */
const unconfirmed = 500;
const maxPlainBytes = 1024;

async function startStage() {
  const folder = mkdtempSync(join(tmpdir(), 'labgraph-bench-'));
  const world = createWorld(planWorld({ users: 50, ordersPerUser: 10 }));
  const rabbit = await prepareRabbit(folder);
  await rabbit.start();
  const connection = connectToRabbit(rabbit.url);
  await connection.queueDeclare({ queue, durable: true });
  const publisher = connection.createPublisher({ confirm: true });
  const gateways: GatewayProcess[] = [];
  const publish = (body: Buffer) => {
    const isLarge = body.length > maxPlainBytes;
    const fields = { routingKey: queue, contentType: 'application/json', durable: true };
    const encoding = isLarge ? { contentEncoding: 'gzip' } : {};
    return publisher.send({ ...fields, ...encoding }, isLarge ? gzipSync(body) : body);
  };
  const next = createMessages(world);
  return {
    publishOne: () => publish(next()),
    publishAll: async (count: number) => {
      let left = count;
      const work = async () => {
        while (left > 0) {
          left -= 1;
          await publish(next());
        }
      };
      await Promise.all(Array.from({ length: unconfirmed }, work));
    },
    startGateway: async () => {
      const gateway = await startGatewayProcess(folder, {
        ...environmentOf(folder, world.teamId),
        INTAKE_RABBITMQ_URL: rabbit.url,
        INTAKE_RABBITMQ_QUEUE: queue,
      });
      gateways.push(gateway);
      return gateway;
    },
    [Symbol.asyncDispose]: async () => {
      for (const gateway of gateways) await gateway.end('SIGTERM');
      connection.unsafeDestroy();
      await rabbit.end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
type Stage = Awaited<ReturnType<typeof startStage>>;

/** As in production, over a service that is not there: events need none. */
function environmentOf(folder: string, teamId: string): Readonly<Record<string, string>> {
  const secrets = makeSecrets();
  return {
    NODE_ENV: 'production',
    PORT: '0',
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: secrets.serviceKey,
    SERVICE_TEAM_ID: teamId,
    WEBHOOK_SECRETS: secrets.webhookSecret,
    GATEWAY_API_KEYS: secrets.gatewayKey,
    VIEWER_TOKEN_SECRET: secrets.viewerTokenSecret,
    EVENT_LOG: `sqlite:${join(folder, 'events.db')}`,
    EVENT_LOG_KEY: secrets.eventLogKey,
    RECONCILE_MINUTES: '0',
    AUDIT_TRAIL: 'off',
    ...(process.env.GATEWAY_NODE_OPTIONS ? { NODE_OPTIONS: process.env.GATEWAY_NODE_OPTIONS } : {}),
  };
}

/** Changes of the orders, in turns. */
function createMessages(world: World): () => Buffer {
  let turn = 0;
  return () => {
    const order = world.orders[turn % world.orders.length];
    if (order === undefined) throw new Error('The world has no orders.');
    turn += 1;
    return Buffer.from(world.report(order, world.advance(order)).body);
  };
}

/** When each message was durable: the gateway logs them in the order of the queue. */
function readDurableTimes({ output }: GatewayProcess): readonly number[] {
  return output
    .filter((line) => line.includes('"broker.accepted"'))
    .map((line) => Date.parse(JSON.parse(line).time) || Number(JSON.parse(line).time));
}

async function untilDurable(gateway: GatewayProcess, count: number): Promise<void> {
  let [seen, found] = [0, 0];
  while (found < count) {
    for (; seen < gateway.output.length; seen += 1)
      if (gateway.output[seen]?.includes('"broker.accepted"')) found += 1;
    await wait(20);
  }
}

async function measureBacklog(gateway: GatewayProcess, { backlog }: Plan): Promise<readonly Row[]> {
  const warmUp = Math.floor(backlog / 5);
  await untilDurable(gateway, warmUp);
  const [before, from] = [readUsage(gateway.pid), Date.now()];
  const already = readDurableTimes(gateway).length;
  await untilDurable(gateway, backlog);
  const seconds = (Date.now() - from) / 1000;
  const after = readUsage(gateway.pid);
  const samples = backlog - already;
  const cpuMicros = (after?.cpuMicros ?? Number.NaN) - (before?.cpuMicros ?? Number.NaN);
  const rate = samples / seconds;
  const base = { samples, isMet: null, goal: null } as const;
  return [
    {
      ...base,
      what: 'messages a second from a full queue',
      goal: 'at least 3,000',
      figure: formatNumber(rate),
      isMet: rate >= 3000,
    },
    {
      ...base,
      what: 'processor time of the gateway for each',
      figure: `${formatNumber(cpuMicros / samples)} µs`,
    },
  ];
}

async function measureSteady(stage: Stage, gateway: GatewayProcess, plan: Plan): Promise<Row> {
  const already = readDurableTimes(gateway).length;
  const count = plan.perSecond * plan.seconds;
  const published: number[] = [];
  const confirmed: Promise<void>[] = [];
  const start = Date.now();
  while (published.length < count) {
    const due = Math.min(count, Math.floor(((Date.now() - start) / 1000) * plan.perSecond));
    while (published.length < due) {
      published.push(Date.now());
      confirmed.push(stage.publishOne());
    }
    await wait(1);
  }
  await Promise.all(confirmed);
  await untilDurable(gateway, already + count);
  const durable = readDurableTimes(gateway).slice(already);
  const took = published.map((time, index) => (durable[index] ?? Number.NaN) - time);
  return {
    what: `published to durable, ${formatNumber(plan.perSecond)} a second`,
    goal: null,
    figure: formatQuantiles(took),
    samples: count,
    isMet: null,
  };
}
