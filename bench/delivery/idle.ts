import { setTimeout as wait } from 'node:timers/promises';
import { formatNumber, type Row } from '../support/figures.ts';
import { collectGarbage, readSettledRss } from '../support/process-usage.ts';
import type { Plan } from './plan.ts';
import { closeAll, openAll, type Stage } from './stage.ts';

const goalPerGigabyte = 40_000;
const warmUps = 100;
const steps = 4;

/**
 * The memory of a subscribed socket without events: the resident memory of a fresh, warmed up process before and
 * after the sockets open, each when cached reads have expired, memory has settled and garbage is collected.
 */
export async function measureIdle(stage: Stage, plan: Plan): Promise<readonly Row[]> {
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
  let after = before;
  const toSocket = (step: number) => Math.round((plan.idleSockets * step) / steps);
  for (let step = 0; step < steps; step += 1) {
    await openSockets(stage, { from: toSocket(step), to: toSocket(step + 1) });
    after = await readMemory();
  }
  await closeAll(stage);
  return describe(plan, {
    collected: after.collected - before.collected,
    untouched: after.untouched - before.collected,
  });
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
