import type { Wanted } from '../load/listener.ts';
import { formatNumber, type Row } from '../support/figures.ts';
import type { Plan } from './plan.ts';
import type { Stage } from './stage.ts';

/** Where streams began: cursors from before the log was filled. */
export interface Beginnings {
  readonly user: string;
  readonly team: string;
}

export async function noteBeginnings(stage: Stage): Promise<Beginnings> {
  const { poster, audience } = stage;
  const listener = listenerOf(stage);
  // The whole snapshot: only the cursor of its last item goes on behind it.
  const { cursor: user } = await listener.call('take', {
    wanted: await stage.userUpdates(audience.busy.from),
    count: audience.busy.count,
  });
  // The team's stream begins with the first event that comes; it may arrive before the stream is open.
  const taking = listener.call('take', { wanted: stage.everything(), count: 1 });
  let team: string | null = null;
  void taking.then(({ cursor }) => {
    team = cursor;
  });
  while (team === null) await poster.call('postOne', { order: audience.busy.from });
  return { user, team };
}

/** How fast a subscriber comes up from the log's beginning. */
export async function measureCatchUp(
  stage: Stage,
  plan: Plan,
  beginnings: Beginnings,
): Promise<readonly Row[]> {
  const { busy } = stage.audience;
  const streams = [
    ['of one user', await stage.userUpdates(busy.from, beginnings.user)],
    ["of the team's stream", stage.everything(beginnings.team)],
  ] as const;
  const rows: Row[] = [];
  for (const [whose, wanted] of streams) rows.push(await measureOne(stage, plan, { whose, wanted }));
  return rows;
}

interface CatchingUp {
  readonly whose: string;
  readonly wanted: Wanted;
}

async function measureOne(stage: Stage, plan: Plan, { whose, wanted }: CatchingUp): Promise<Row> {
  const count = plan.logEvents;
  const { startedMs, lastMs } = await listenerOf(stage).call('take', { wanted, count });
  return {
    what: `catching up ${formatNumber(count)} events ${whose}, events a second`,
    goal: null,
    figure: formatNumber((count * 1000) / (lastMs - startedMs)),
    samples: count,
    isMet: null,
  };
}

function listenerOf({ listeners }: Stage) {
  const [listener] = listeners;
  if (listener === undefined) throw new Error('There is no process that listens.');
  return listener;
}
