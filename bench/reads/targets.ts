import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareGateways, type Secrets } from '../../test/support/fleet.ts';
import { findFreePort } from '../../test/support/listening.ts';
import { createVictim, type GatewayVictim, prepareServer } from '../../test/support/processes.ts';
import type { CountedService } from './constant-service.ts';
import { toDigits, toUserId } from './world.ts';

/** The measured servers. All but `bare` and the service answer the question. */
export type TargetId =
  | 'ours'
  | 'ours-uncached'
  | 'ours-varied'
  | 'mercurius'
  | 'apollo'
  | 'yoga'
  | 'tailcall'
  | 'handwritten'
  | 'bare'
  | 'service';

export interface Target {
  readonly id: TargetId;
  readonly name: string;
  /** Where requests are posted. */
  readonly endpoint: string;
  /** Without its end: the service is not the bench's to end here. */
  readonly victim: Pick<GatewayVictim, 'url' | 'pid' | 'crashes' | 'output'>;
}

/** A server that cannot be measured, and why. */
export interface MissingTarget {
  readonly id: TargetId;
  readonly fault: string;
}

export interface Targets extends AsyncDisposable {
  readonly running: readonly Target[];
  readonly missing: readonly MissingTarget[];
}

export const targetNames: Readonly<Record<TargetId, string>> = {
  ours: 'Labgraph',
  'ours-uncached': 'Labgraph, `READ_CACHE_SECONDS=0`',
  'ours-varied': 'Labgraph, varied',
  mercurius: 'Mercurius',
  apollo: 'Apollo Server',
  yoga: 'Yoga',
  tailcall: 'Tailcall',
  handwritten: 'hand-written, no GraphQL',
  bare: 'bare node:http',
  service: 'the service itself, one read',
};

/** Ours first, then the peers. */
export const targetOrder: readonly TargetId[] = [
  ...(['ours', 'ours-uncached', 'ours-varied'] as const),
  ...(['mercurius', 'apollo', 'yoga', 'tailcall', 'handwritten'] as const),
  ...(['bare', 'service'] as const),
];

export function isOurs(id: TargetId): boolean {
  return id.startsWith('ours');
}

/** Whether it always says the same, whatever it is asked. */
export function isConstant(id: TargetId): boolean {
  return id === 'bare' || id === 'service';
}

export interface TargetOptions {
  readonly folder: string;
  readonly service: CountedService;
  readonly teamId: string;
  readonly secrets: Secrets;
  readonly gatewayKeys: readonly string[];
  readonly ids: readonly TargetId[];
  /** Settings of the varied one of ours. */
  readonly settings: Readonly<Record<string, string>>;
  /** The path of the hand-written endpoint. */
  readonly page: string;
}

const startMs = 60_000;
const endMs = 10_000;

/** Starts them all. One that does not start is missing, and the others are measured without it. */
export async function startTargets(options: TargetOptions): Promise<Targets> {
  const victims: GatewayVictim[] = [];
  const starts = options.ids.map(async (id): Promise<Target | MissingTarget> => {
    try {
      if (id === 'service') return toService(options);
      const victim = isOurs(id) ? await prepareOurs(id, options) : await preparePeer(id, options);
      victims.push(victim);
      await startInTime(victim);
      return { id, name: targetNames[id], endpoint: `${victim.url}${pathOf(id, options)}`, victim };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { id, fault: `did not start: ${reason}` };
    }
  });
  const started = await Promise.all(starts);
  return {
    running: started.filter((target) => 'victim' in target),
    missing: started.filter((target) => 'fault' in target),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(victims.map(endInTime));
    },
  };
}

async function startInTime(victim: GatewayVictim): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not in ${startMs / 1000} s`)), startMs);
  await Promise.race([victim.start(), promise]).finally(() => clearTimeout(timer));
}

async function endInTime(victim: GatewayVictim): Promise<void> {
  const timer = setTimeout(() => void victim.end('SIGKILL'), endMs);
  await victim.end('SIGTERM');
  clearTimeout(timer);
}

function pathOf(id: TargetId, { page }: TargetOptions): string {
  if (id === 'handwritten') return `/${page}`;
  return id === 'bare' || id === 'apollo' ? '/' : '/graphql';
}

function toService({ service }: TargetOptions): Target {
  const victim = { url: service.url, pid: service.pid, crashes: () => 0, output: [] };
  const endpoint = `${service.url}/v2/user/${toUserId(toDigits(0))}`;
  return { id: 'service', name: targetNames.service, endpoint, victim };
}

async function preparePeer(id: TargetId, { folder, service }: TargetOptions): Promise<GatewayVictim> {
  if (id === 'tailcall') return await prepareTailcall(folder, service.url);
  const body = JSON.stringify({ data: { order: { id: '00000002-0000-4000-8000-000000000000' } } });
  return await prepareServer(targetNames[id], {
    main: fileURLToPath(new URL(`../peers/${id}.js`, import.meta.url)),
    folder,
    env: { NODE_ENV: 'production', SERVICE_URL: service.url, BODY: body },
    greeting: 'Listening on ',
  });
}

const tailcallProgram = '../peers/node_modules/@tailcallhq/core-linux-x64-gnu/bin/tailcall';

async function prepareTailcall(folder: string, serviceUrl: string): Promise<GatewayVictim> {
  const port = await findFreePort();
  const config = readFileSync(new URL('../peers/tailcall.graphql', import.meta.url), 'utf8')
    .replace('port: 4000', `port: ${port}`)
    .replaceAll('http://service', serviceUrl);
  const file = join(folder, 'tailcall.graphql');
  writeFileSync(file, config);
  const victim = createVictim({
    name: targetNames.tailcall,
    file: fileURLToPath(new URL(tailcallProgram, import.meta.url)),
    args: ['start', file],
    cwd: folder,
    env: { TAILCALL_TRACKER: 'false' },
    isReady: (line) => line.includes(`:${port}`),
  });
  return { ...victim, url: `http://127.0.0.1:${port}` };
}

async function prepareOurs(id: TargetId, options: TargetOptions): Promise<GatewayVictim> {
  // Each has an event log of its own.
  const folder = join(options.folder, id);
  mkdirSync(folder, { recursive: true });
  const [gateway] = await prepareGateways({
    ...{ folder, teamId: options.teamId, secrets: options.secrets },
    ...{ service: options.service.url, redis: undefined },
    env: {
      // Where the inspector listens once it is asked for (profile.ts).
      NODE_OPTIONS: '--inspect-port=0',
      GATEWAY_API_KEYS: options.gatewayKeys.join(','),
      ...(id === 'ours-uncached' ? { READ_CACHE_SECONDS: '0' } : {}),
      ...(id === 'ours-varied' ? options.settings : {}),
    },
  });
  if (gateway === undefined) throw new Error('There is no gateway.');
  return gateway;
}
