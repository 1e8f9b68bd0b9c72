import { setTimeout as wait } from 'node:timers/promises';
import { formatNumber, type Row } from '../support/figures.ts';
import { collectGarbage, readSettledRss } from '../support/process-memory.ts';
import type { Plan } from './plan.ts';
import { closeAll, openAll, type Stage } from './stage.ts';

export const goalPerGigabyte = 40_000;
const warmUps = 100;
const steps = 4;

/** A point of the memory curve: what the gateway has in memory with so many sockets beyond what it had without. */
export interface MemoryPoint {
  readonly sockets: number;
  readonly bytes: number;
}

/**
 * What a subscribed socket that hears nothing costs the gateway. A fresh process, warmed up with sockets that have
 * gone again; its resident memory before and after, each when what was read is kept no more, settled and after garbage was collected.
 */
export async function measureIdle(
  stage: Stage,
  plan: Plan,
): Promise<{ readonly rows: readonly Row[]; readonly points: readonly MemoryPoint[] }> {
  const { serving } = stage;
  await serving.end('SIGTERM');
  await serving.start();
  await openSockets(stage, { from: 0, to: Math.min(warmUps, plan.idleSockets) });
  await closeAll(stage);
  const readMemory = async () => {
    const pid = serving.pid() ?? 0;
    await wait(plan.forgettingSeconds * 1000);
    const untouched = await readSettledRss(pid);
    await collectGarbage(pid, serving.output);
    return { untouched, collected: await readSettledRss(pid) };
  };
  const before = await readMemory();
  const points: MemoryPoint[] = [{ sockets: 0, bytes: 0 }];
  let untouched = 0;
  for (let step = 1; step <= steps; step += 1) {
    const from = points.at(-1)?.sockets ?? 0;
    const to = Math.round((plan.idleSockets * step) / steps);
    await openSockets(stage, { from, to });
    const now = await readMemory();
    untouched = now.untouched - before.collected;
    points.push({ sockets: to, bytes: now.collected - before.collected });
  }
  await closeAll(stage);
  const bytes = points.at(-1)?.bytes ?? 0;
  return { rows: describe(plan, { collected: bytes, untouched }), points };
}

async function openSockets(stage: Stage, { from, to }: { readonly from: number; readonly to: number }) {
  const places = Array.from({ length: to - from }, (_, index) => stage.audience.crowd.from + from + index);
  await openAll(stage, await Promise.all(places.map(stage.orderUpdates)));
}

interface Memory {
  readonly collected: number;
  readonly untouched: number;
}

function describe({ idleSockets }: Plan, { collected, untouched }: Memory): readonly Row[] {
  const perGigabyte = (1e9 * idleSockets) / collected;
  const figures = [
    [
      `memory of an idle subscribed socket, of ${formatNumber(idleSockets)}`,
      `${formatNumber(collected / idleSockets)} bytes (${formatNumber(perGigabyte)} in a GB)`,
      `at least ${formatNumber(goalPerGigabyte)} in a GB`,
      perGigabyte >= goalPerGigabyte,
    ],
    [
      'the same before garbage was collected by force',
      `${formatNumber(untouched / idleSockets)} bytes`,
      null,
      null,
    ],
  ] as const;
  return figures.map(([what, figure, goal, isMet]) => ({ what, figure, goal, isMet, samples: idleSockets }));
}
