import type { RoundReport } from './round.ts';

/** Limits throughout every attack. */
export const bounds = { memoryMiB: 400, slowdown: 5, healthMs: 250, endMs: 10_000 } as const;

/** Names of the limits that a round exceeded. */
export function findBroken(report: RoundReport): readonly string[] {
  const slowdown = report.besieged.p95 / report.quiet.p95;
  return [
    ...findBrokenAnywhere(report),
    ...(slowdown < bounds.slowdown ? [] : ['p95']),
    ...(report.slowestHealthMs <= bounds.healthMs ? [] : ['health']),
  ];
}

/** The same without the limits that a busy machine exceeds. */
export function findBrokenAnywhere({
  memoryMiB,
  webhooks,
  failed,
  endedMs,
  exitCode,
}: RoundReport): readonly string[] {
  return [
    ...(memoryMiB < bounds.memoryMiB ? [] : ['memory']),
    ...(webhooks.sent > 0 && webhooks.turnedAway === 0 ? [] : ['webhooks']),
    ...(failed === 0 ? [] : ['answers']),
    ...(endedMs < bounds.endMs && exitCode === 0 ? [] : ['end']),
  ];
}

const columns = [
  'attack',
  'MiB',
  'processor',
  'quiet p50, p95',
  'besieged p50, p95',
  'times',
  'in processor time: quiet p95, besieged p95',
  'webhooks turned away',
  'health',
  'not answered',
  'ended in (exit code)',
  'broken',
  'what the attack did',
];

export const roundHead = `| ${columns.join(' | ')} |\n${'|---'.repeat(columns.length)}|`;

export function printRound(report: RoundReport, broken: readonly string[]): string {
  const { quiet, besieged, webhooks } = report;
  const timesOf = ({ p50, p95 }: RoundReport['quiet']) => `${p50.toFixed(1)}, ${p95.toFixed(1)}`;
  const cells = [
    report.name,
    report.memoryMiB,
    `${Math.round(report.processorShare * 100)} %`,
    timesOf(quiet),
    timesOf(besieged),
    (besieged.p95 / quiet.p95).toFixed(1),
    `${quiet.processorP95.toFixed(1)}, ${besieged.processorP95.toFixed(1)}`,
    `${webhooks.turnedAway} of ${webhooks.sent}`,
    report.slowestHealthMs,
    report.failed,
    `${report.endedMs} (${report.exitCode})`,
    broken.length === 0 ? '-' : `**${broken.join(', ')}**`,
    Object.entries(report.attack)
      .map(([name, count]) => `${name}: ${count}`)
      .join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}
