import { type BarGroup, drawBars } from '../support/bar-chart.ts';
import { decadesAround } from '../support/chart.ts';
import { formatMs, formatNumber } from '../support/figures.ts';
import { drawChart } from '../support/line-chart.ts';
import { nestedCosts } from './goals.ts';
import type { Figure } from './measure.ts';
import { type TargetId, targetNames, targetOrder } from './targets.ts';
import { workloads } from './workloads.ts';
import { userCounts } from './world.ts';

/** How many requests a second each server answered. */
export function drawRates(figures: readonly Figure[]): string {
  const targets = targetsOf(figures);
  const rates = figures.map(({ perSecond }) => perSecond);
  return drawBars({
    title: 'Requests a second',
    axis: {
      label: 'answered by one process; each step to the right is ten times as many',
      ticks: decadesAround(rates, formatNumber),
      scale: Math.log,
    },
    names: targets.map((id) => targetNames[id]),
    groups: toGroups(figures, targets, ({ perSecond }) => ({
      to: perSecond,
      label: formatNumber(perSecond),
    })),
  });
}

/** From what half of the requests took to what one in a hundred exceeded. */
export function drawLatencies(figures: readonly Figure[]): string {
  const targets = targetsOf(figures);
  const latencies = figures.flatMap(({ p50Ms, p99Ms }) => [p50Ms, p99Ms]);
  return drawBars({
    title: 'Latency',
    axis: {
      label: 'from the median (p50) to the slowest hundredth (p99)',
      ticks: decadesAround(latencies, (ms) => `${ms.toLocaleString('en-US')} ms`),
      scale: Math.log,
    },
    names: targets.map((id) => targetNames[id]),
    groups: toGroups(figures, targets, ({ p50Ms, p99Ms }) => ({
      ...{ from: p50Ms, to: p99Ms },
      label: `${formatMs(p50Ms)} to ${formatMs(p99Ms)}`,
    })),
  });
}

/** What each user in a nested request costs. */
export function drawCosts(figures: readonly Figure[]): string {
  const targets = targetsOf(figures).filter((id) => id !== 'bare');
  const series = targets.map((id) => ({
    name: targetNames[id],
    points: nestedCosts(figures, id).map(({ users, microseconds }) => [users, microseconds / users] as const),
  }));
  return drawChart({
    title: 'What a user more costs',
    x: {
      label: 'users in one nested request',
      ticks: userCounts.map((users) => ({ at: users, label: String(users) })),
      scale: Math.log,
    },
    y: {
      label: 'microseconds of a nested request, for each of its users and their orders',
      ticks: decadesAround(
        series.flatMap(({ points }) => points.map(([, cost]) => cost)),
        (us) => `${us.toLocaleString('en-US')} µs`,
      ),
      scale: Math.log,
    },
    series,
  });
}

function targetsOf(figures: readonly Figure[]): readonly TargetId[] {
  return targetOrder.filter((id) => figures.some(({ target }) => target === id));
}

function toGroups(
  figures: readonly Figure[],
  targets: readonly TargetId[],
  toBar: (figure: Figure) => Omit<BarGroup['bars'][number], 'series'>,
): readonly BarGroup[] {
  return workloads.flatMap(({ name, what }) => {
    const own = figures.filter(({ workload }) => workload === name);
    const bars = targets.flatMap((id, series) =>
      own.filter(({ target }) => target === id).map((figure) => ({ series, ...toBar(figure) })),
    );
    return bars.length === 0 ? [] : [{ name: what, bars }];
  });
}
