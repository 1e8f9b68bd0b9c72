import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareGateways, type Secrets } from '../../test/support/fleet.ts';
import { type GatewayVictim, prepareServer } from '../../test/support/processes.ts';

/** The measured servers. All but `bare` answer GraphQL. */
export type TargetId = 'bare' | 'apollo' | 'mercurius' | 'ours' | 'ours-uncached' | 'ours-varied';

export interface Target {
  readonly id: TargetId;
  readonly name: string;
  /** Where requests are posted. */
  readonly endpoint: string;
  readonly victim: GatewayVictim;
}

export const targetNames: Readonly<Record<TargetId, string>> = {
  bare: 'bare node:http',
  apollo: 'Apollo Server',
  mercurius: 'Mercurius',
  ours: 'Labgraph',
  'ours-uncached': 'Labgraph, no cache, in-flight reads joined',
  'ours-varied': 'Labgraph, varied',
};

/** Ours first, then the peers. */
export const targetOrder: readonly TargetId[] = [
  'ours',
  'ours-uncached',
  'ours-varied',
  'mercurius',
  'apollo',
  'bare',
];

export function isOurs(id: TargetId): boolean {
  return id.startsWith('ours');
}

export interface TargetOptions {
  readonly folder: string;
  readonly serviceUrl: string;
  readonly teamId: string;
  readonly secrets: Secrets;
  readonly ids: readonly TargetId[];
  /** Settings of the varied one of ours. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Starts them all; those that run already are ended when one does not start. */
export async function startTargets(options: TargetOptions): Promise<readonly Target[]> {
  const targets = await Promise.all(options.ids.map((id) => prepare(id, options)));
  try {
    await Promise.all(targets.map(({ victim }) => victim.start()));
  } catch (error) {
    await endTargets(targets);
    throw error;
  }
  return targets;
}

export async function endTargets(targets: readonly Target[]): Promise<void> {
  await Promise.all(targets.map(({ victim }) => victim.end('SIGTERM')));
}

async function prepare(id: TargetId, options: TargetOptions): Promise<Target> {
  const victim = isOurs(id) ? await prepareOurs(id, options) : await preparePeer(id, options);
  const path = isOurs(id) ? '/graphql' : peerPaths[id];
  return { id, name: targetNames[id], endpoint: `${victim.url}${path}`, victim };
}

const peerPaths: Readonly<Partial<Record<TargetId, string>>> = {
  bare: '/',
  apollo: '/',
  mercurius: '/graphql',
};

async function preparePeer(id: TargetId, { folder, serviceUrl }: TargetOptions): Promise<GatewayVictim> {
  const body = JSON.stringify({ data: { order: { id: '00000002-0000-4000-8000-000000000000' } } });
  return await prepareServer(targetNames[id], {
    main: fileURLToPath(new URL(`../peers/${id}.js`, import.meta.url)),
    folder,
    env: { NODE_ENV: 'production', SERVICE_URL: serviceUrl, BODY: body },
    greeting: 'Listening on ',
  });
}

async function prepareOurs(id: TargetId, options: TargetOptions): Promise<GatewayVictim> {
  // Each has an event log of its own.
  const folder = join(options.folder, id);
  mkdirSync(folder, { recursive: true });
  const [gateway] = await prepareGateways({
    ...{ folder, teamId: options.teamId, secrets: options.secrets },
    ...{ service: options.serviceUrl, redis: undefined },
    env: {
      // Where the inspector listens once it is asked for (profile.ts).
      NODE_OPTIONS: '--inspect-port=0',
      READ_CACHE_SECONDS: id === 'ours-uncached' ? '0' : '10',
      ...(id === 'ours-varied' ? options.settings : {}),
    },
  });
  if (gateway === undefined) throw new Error('There is no gateway.');
  return gateway;
}
