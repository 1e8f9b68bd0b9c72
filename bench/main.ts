import process from 'node:process';

/** A bench by name: what it measures, and the module whose `run` does it. */
interface Bench {
  readonly measures: string;
  readonly load: () => Promise<{ readonly run: (args: readonly string[]) => Promise<void> }>;
}

const benches: Readonly<Record<string, Bench>> = {
  reads: {
    measures: 'queries, beside Apollo Server, Mercurius and bare node:http (the default)',
    load: () => import('./reads/main.ts'),
  },
  delivery: {
    measures:
      'from a webhook to its subscribers: intake, delivery, idle sockets, catching up, restart, floods',
    load: () => import('./delivery/main.ts'),
  },
  broker: {
    measures: 'events from RabbitMQ until they are durable',
    load: () => import('./broker/main.ts'),
  },
  tracing: {
    measures: 'what tracing costs: starts and requests with and without it',
    load: () => import('./tracing/main.ts'),
  },
  soak: {
    measures: 'whether memory, files or latency grow under load and faults (npm run soak)',
    load: () => import('./soak/main.ts'),
  },
  lighthouse: {
    measures: 'the demo page on a phone: Lighthouse (npm run lighthouse)',
    load: () => import('./lighthouse/main.ts'),
  },
};

function describeUsage(): string {
  const lines = Object.entries(benches).map(([name, { measures }]) => `  ${name}: ${measures}`);
  return `npm run bench -- [name] [--help]\n\n${lines.join('\n')}\n`;
}

const usual = 'reads';
const given = process.argv.slice(2);
const isNamed = given[0] !== undefined && !given[0].startsWith('-');
const [name = usual, ...args] = isNamed ? given : [usual, ...given];
const bench = benches[name];
if (bench === undefined) {
  process.stderr.write(describeUsage());
  process.exit(2);
}
const { run } = await bench.load();
await run(args);
