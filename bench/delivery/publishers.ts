import { fileURLToPath } from 'node:url';
import { type GatewayVictim, prepareServer } from '../../test/support/processes.ts';
import type { Wanted } from '../load/listener.ts';
import type { PosterCalls } from '../load/poster.ts';
import { ensurePeers } from '../reads/peers.ts';
import { type LoadProcess, startLoadProcess } from '../support/load-process.ts';
import type { Plan } from './plan.ts';
import type { Stage } from './stage.ts';

/** What takes webhooks and sends them to subscribers. */
export interface Publisher {
  readonly name: string;
  /** Its processes. */
  readonly victims: readonly GatewayVictim[];
  readonly poster: LoadProcess<PosterCalls>;
  /** A subscription to an order, by its place in the world. */
  readonly orderUpdates: (index: number) => Promise<Wanted>;
}

export interface Publishers extends AsyncDisposable {
  readonly all: readonly Publisher[];
}

const peers = { Mercurius: 'live-mercurius.js', Yoga: 'live-yoga.js' } as const;

/** The gateway; and, where the plan has them, its peers, which verify no signature and store nothing. */
export async function startPublishers(stage: Stage, plan: Plan): Promise<Publishers> {
  const { receiving, serving, poster, orderUpdates } = stage;
  const ours = { name: 'Labgraph', victims: [...new Set([receiving, serving])], poster, orderUpdates };
  if (!plan.hasPeers) return { all: [ours], [Symbol.asyncDispose]: async () => {} };
  ensurePeers();
  const started = await Promise.all(
    Object.entries(peers).map(([name, file]) => startPeer(stage, `${name}, in memory`, file)),
  );
  return {
    all: [ours, ...started],
    [Symbol.asyncDispose]: async () => {
      const ends = started.map(({ poster, victims }) => [
        poster.end(),
        ...victims.map((victim) => victim.end('SIGKILL')),
      ]);
      await Promise.all(ends.flat());
    },
  };
}

async function startPeer(stage: Stage, name: string, file: string): Promise<Publisher> {
  const victim = await prepareServer(name, {
    main: fileURLToPath(new URL(`../peers/${file}`, import.meta.url)),
    folder: stage.folder,
    env: { NODE_ENV: 'production' },
    greeting: 'Listening on ',
  });
  await victim.start();
  const poster = startLoadProcess<PosterCalls>(new URL('../load/poster.ts', import.meta.url));
  await poster.call('prepare', { ...stage.world, url: victim.url });
  const orderUpdates = async (index: number) => ({
    ...(await stage.orderUpdates(index)),
    url: victim.url,
  });
  return { name, victims: [victim], poster, orderUpdates };
}
