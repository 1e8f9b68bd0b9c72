import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSecrets, prepareGateways } from '../../test/support/fleet.ts';
import type { GatewayVictim } from '../../test/support/processes.ts';
import type { LiveServiceCalls } from '../load/live-service.ts';
import type { PassersCalls } from '../load/passers.ts';
import type { OwnedOrder, VisitorCalls } from '../load/visitor.ts';
import { createReadWorld } from '../reads/world.ts';
import { type LoadProcess, startLoadProcess } from '../support/load-process.ts';
import type { Plan } from './plan.ts';

/** A gateway as in production, its service and its clients, each in a separate process. */
export interface Stage extends AsyncDisposable {
  readonly gateway: GatewayVictim;
  readonly service: LoadProcess<LiveServiceCalls>;
  readonly visitor: LoadProcess<VisitorCalls>;
  readonly passers: LoadProcess<PassersCalls>;
  readonly orders: readonly OwnedOrder[];
  readonly secrets: ReturnType<typeof makeSecrets>;
}

export async function startStage({ users, ordersPerUser }: Plan): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'labgraph-soak-'));
  const secrets = makeSecrets();
  const start = {
    service: '../load/live-service.ts',
    visitor: '../load/visitor.ts',
    passers: '../load/passers.ts',
  };
  const service = startLoadProcess<LiveServiceCalls>(new URL(start.service, import.meta.url));
  const visitor = startLoadProcess<VisitorCalls>(new URL(start.visitor, import.meta.url));
  const passers = startLoadProcess<PassersCalls>(new URL(start.passers, import.meta.url));
  let gateway: GatewayVictim | undefined;
  const dispose = async () => {
    await Promise.all([service, visitor, passers].map((load) => load.end()));
    await gateway?.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const size = { users, ordersPerUser };
    const world = await createReadWorld(size);
    [gateway] = await prepareGateways({
      folder,
      teamId: world.teamId,
      secrets,
      service: await service.call('listen', size),
      redis: undefined,
      env: settings(folder),
    });
    if (gateway === undefined) throw new Error('There is no gateway.');
    await gateway.start();
    const orders = world.orderIds.map((id) => ({ id, userId: String(world.order(id)?.user_id) }));
    return { gateway, service, visitor, passers, orders, secrets, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Switches on every feature that stores something. */
function settings(folder: string): Readonly<Record<string, string>> {
  return {
    AUDIT_TRAIL: `file:${join(folder, 'audit')}`,
    AUDIT_TRAIL_KEY: randomBytes(32).toString('base64'),
    RATE_LIMIT_POINTS: '1000000000',
    RECONCILE_MINUTES: '1',
    LOG_LEVEL: 'error',
    // Where the inspector listens once it is asked for.
    NODE_OPTIONS: '--inspect-port=0',
  };
}
