import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createViewerTokens } from '../../gateway/auth/viewer-tokens.ts';
import { makeSecrets } from '../../test/support/fleet.ts';
import type { LiveServiceCalls } from '../load/live-service.ts';
import { type LoadProcess, startLoadProcess } from '../support/load-process.ts';
import { startConstantService } from './constant-service.ts';
import { endTargets, startTargets, type Target, type TargetId } from './targets.ts';
import { createReadWorld, type ReadWorld, userCounts, type WorldSize } from './world.ts';

/** The service and the servers that are measured before it. */
export interface Stage extends AsyncDisposable {
  /** For files that last as long as the stage. */
  readonly folder: string;
  readonly world: ReadWorld;
  readonly targets: readonly Target[];
  readonly gatewayKey: string;
  readonly webhookSecret: string;
  /** A token that reads the orders of one user. */
  readonly mintViewerToken: (userId: string) => Promise<string>;
  /** The service where it can change; null where its answers are constant. */
  readonly live: LoadProcess<LiveServiceCalls> | null;
}

export interface StageOptions {
  readonly size: WorldSize;
  /** Null: the service is a program of Node. */
  readonly nginx: string | null;
  readonly ids: readonly TargetId[];
  readonly settings: Readonly<Record<string, string>>;
}

const ttlSeconds = 900;

export async function startStage({ size, nginx, ids, settings }: StageOptions): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'labgraph-bench-'));
  const world = await createReadWorld(size);
  const secrets = makeSecrets();
  const service = await startService(nginx, { folder, world, size });
  const end = async (targets: readonly Target[]) => {
    await endTargets(targets);
    await service.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { teamId } = world;
    const wanted = { folder, teamId, secrets, ids, settings, serviceUrl: service.url };
    const targets = await startTargets(wanted);
    const { mint } = createViewerTokens({ secrets: [secrets.viewerTokenSecret], provider: null });
    const rights = { scopes: ['read:orders'] as const, ttlSeconds, orderIds: null, origins: null };
    return {
      ...{ folder, world, targets, live: service.live },
      ...{ gatewayKey: secrets.gatewayKey, webhookSecret: secrets.webhookSecret },
      mintViewerToken: async (userId) => (await mint({ userId, ...rights })).token,
      [Symbol.asyncDispose]: () => end(targets),
    };
  } catch (error) {
    await end([]);
    throw error;
  }
}

interface ServiceOptions {
  readonly folder: string;
  readonly world: ReadWorld;
  readonly size: WorldSize;
}

interface RunningService {
  readonly url: string;
  readonly live: Stage['live'];
  readonly end: () => Promise<void>;
}

async function startService(
  nginx: string | null,
  { folder, world, size }: ServiceOptions,
): Promise<RunningService> {
  if (nginx !== null) {
    return { live: null, ...(await startConstantService(nginx, { folder, world, userCounts })) };
  }
  const live = startLoadProcess<LiveServiceCalls>(new URL('../load/live-service.ts', import.meta.url));
  return { url: await live.call('listen', size), live, end: live.end };
}
