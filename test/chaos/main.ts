import process from 'node:process';
import { parseArgs } from 'node:util';
import { type ChaosReport, faultKeys, runChaos } from './chaos.ts';
import { runFailovers } from './failover.ts';

const usage = `npm run chaos -- [--store sqlite|redis] [--one-port] [--broker|--pubsub] [--messages 100000] [--kills 200]
npm run chaos -- --sentinel [--kills 200] [--replicas 1]

Kills real gateways while webhooks come in and subscribers follow, and counts what arrived against what was
acknowledged. Without --store both stores, one after the other. With --one-port
the two gateways over Redis listen on one port (REUSE_PORT). With --broker every message comes through RabbitMQ and half of
them by webhook as well; with --pubsub it is pushed as Google Pub/Sub does. With --sentinel
the primary of three Redis servers is killed, and nothing else; where the next acknowledgement takes more than ten seconds it prints
what servers and sentinels logged. SIGTERM ends it early, and it reports on what was sent until then. Ends with 1 when anything was lost, repeated,
out of order or sent to the wrong user. The defaults take about half an hour per store on two cores.`;

const rows: readonly (readonly [keyof ChaosReport, string])[] = [
  ['kills', 'gateways killed with SIGKILL'],
  ['gracefulEnds', 'gateways ended with SIGTERM'],
  ['stops', 'gateways stopped with SIGSTOP'],
  ['diskFull', 'times the disk was full'],
  ['redisKills', 'Redis killed with SIGKILL'],
  ['brokerKills', 'RabbitMQ killed with SIGKILL'],
  ['sent', 'messages sent'],
  ['posts', 'posts of them'],
  ['acknowledged', 'acknowledged'],
  ['subscribers', 'subscribers'],
  ['resumed', 'streams resumed'],
  ['delivered', 'items delivered'],
  ['lost', '**lost**'],
  ['repeated', '**repeated**'],
  ['outOfOrder', '**out of order**'],
  ['wrongUser', '**to the wrong user**'],
  ['resynced', '**resynced**'],
  ['forgedAccepted', '**forged and let in**'],
  ['crashes', '**crashes**'],
];

/** How long a failover may take. */
const slowMs = 10_000;

const { values } = parseArgs({
  options: {
    store: { type: 'string' },
    messages: { type: 'string', default: '100000' },
    kills: { type: 'string', default: '200' },
    'one-port': { type: 'boolean', default: false },
    broker: { type: 'boolean', default: false },
    pubsub: { type: 'boolean', default: false },
    sentinel: { type: 'boolean', default: false },
    replicas: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}

if (values.sentinel) {
  const report = await runFailovers({
    kills: Number(values.kills),
    replicas: Number(values.replicas),
    onKill: ({ done, replacedMs, acknowledgedMs, resynced, log }) => {
      const times = `another primary after ${Math.round(replacedMs)} ms, acknowledged after ${Math.round(acknowledgedMs)} ms, RESYNC ${resynced}`;
      const lines = [
        `${new Date().toISOString()} kills ${done}, ${times}`,
        ...(acknowledgedMs > slowMs ? log : []),
      ];
      process.stderr.write(`${lines.join('\n')}\n`);
    },
  });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exit(report.missedUntold + report.cutsUntold > 0 ? 1 : 0);
}

const sharesPort = values['one-port'];
const able = sharesPort ? (['redis'] as const) : (['sqlite', 'redis'] as const);
const stores = able.filter((store) => (values.store ?? store) === store);
const pubsub = values.pubsub ? 'pubsub' : undefined;
const broker = values.broker ? 'rabbitmq' : pubsub;
const ending = new AbortController();
process.on('SIGTERM', () => ending.abort());
const reports: ChaosReport[] = [];
for (const store of stores) {
  process.stderr.write(`Chaos over ${store} ...\n`);
  reports.push(
    await runChaos({
      store,
      sharesPort,
      broker,
      messages: Number(values.messages),
      kills: Number(values.kills),
      users: 8,
      ordersPerUser: 10,
      stopEarly: false,
      ending: ending.signal,
      maxQuietMs: 15_000,
      onHarm: (done, acknowledged) =>
        process.stderr.write(`${new Date().toISOString()} kills ${done}, acknowledged ${acknowledged}\n`),
    }),
  );
}
const lines = [
  `| | ${stores.join(' | ')} |`,
  `|---|${stores.map(() => '---:|').join('')}`,
  ...rows.map(([key, text]) => `| ${text} | ${reports.map((report) => report[key]).join(' | ')} |`),
];
process.stdout.write(`${lines.join('\n')}\n`);
process.exit(reports.some((report) => faultKeys.some((key) => report[key] > 0)) ? 1 : 0);
