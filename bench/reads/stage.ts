import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createViewerTokens } from '../../gateway/auth/viewer-tokens.ts';
import { makeSecrets } from '../../test/support/fleet.ts';
import type { LiveServiceCalls } from '../load/live-service.ts';
import { type LoadProcess, startLoadProcess } from '../support/load-process.ts';
import { type CountedService, startConstantService } from './constant-service.ts';
import { startTargets, type TargetId, type Targets } from './targets.ts';
import { type Callers, nestedUsers, type Workload } from './workloads.ts';
import { createReadWorld, type ReadWorld, type WorldSize } from './world.ts';

/** The service, the servers that are measured before it, and their callers. They serve one workload. */
export interface Stage extends AsyncDisposable {
  /** For files that last as long as the stage. */
  readonly folder: string;
  readonly targets: Targets;
  readonly callers: Callers;
  readonly webhookSecret: string;
  readonly service: CountedService;
  /** The service where it can change; null where its answers are constant. */
  readonly live: LoadProcess<LiveServiceCalls> | null;
}

export interface StageOptions {
  readonly size: WorldSize;
  readonly viewers: number;
  /** Null: the service is a program of Node. */
  readonly nginx: string | null;
  readonly ids: readonly TargetId[];
  readonly settings: Readonly<Record<string, string>>;
  readonly workload: Workload;
}

const ttlSeconds = 900;

export async function startStage(options: StageOptions): Promise<Stage> {
  const { ids, settings, workload } = options;
  await using cleanUp = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'labgraph-bench-'));
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const world = await createReadWorld(options.size);
  const secrets = makeSecrets();
  const { live, ...service } = await startService({ ...options, folder, world });
  cleanUp.defer(service.end);
  const gatewayKeys = Array.from({ length: workload.gatewayKeys }, () =>
    randomBytes(24).toString('base64url'),
  );
  const { teamId } = world;
  const wanted = { folder, teamId, secrets, gatewayKeys, ids, settings, service, page: workload.page };
  const targets = cleanUp.use(await startTargets(wanted));
  const { mint } = createViewerTokens({ secrets: [secrets.viewerTokenSecret], provider: null });
  const rights = { scopes: ['read:orders'] as const, ttlSeconds, orderIds: null, origins: null };
  const mintViewerToken = async (userId: string) => (await mint({ userId, ...rights })).token;
  const cleanUpLater = cleanUp.move();
  return {
    ...{ folder, targets, service, live, webhookSecret: secrets.webhookSecret },
    callers: { world, gatewayKeys, mintViewerToken, viewers: options.viewers },
    [Symbol.asyncDispose]: () => cleanUpLater.disposeAsync(),
  };
}

interface ServiceOptions extends StageOptions {
  readonly folder: string;
  readonly world: ReadWorld;
}

/** Workloads with writes need a service that can change. All others read constant answers from nginx, if it is there. */
async function startService({
  nginx,
  folder,
  world,
  size,
  workload: { isLive, delayMs },
}: ServiceOptions): Promise<CountedService & Pick<Stage, 'live'>> {
  if (nginx !== null && !isLive) {
    const options = { folder, world, delayMs, userCount: nestedUsers };
    return { live: null, ...(await startConstantService(nginx, options)) };
  }
  const live = startLoadProcess<LiveServiceCalls>(new URL('../load/live-service.ts', import.meta.url));
  return {
    ...{ live, end: live.end, pid: () => live.pid },
    url: await live.call('listen', size),
    countCalls: () => live.call('countCalls', undefined),
  };
}
