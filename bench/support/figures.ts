/** One line of a report. */
export interface Row {
  readonly what: string;
  /** Null for figures that have no goal. */
  readonly goal: string | null;
  readonly figure: string;
  /** The number of measurements behind the figure. */
  readonly samples: number;
  readonly isMet: boolean | null;
}

/** The value that a share of the samples does not exceed; NaN of none. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function formatMs(ms: number): string {
  return `${ms.toFixed(ms < 10 ? 2 : 1)} ms`;
}

export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** `p50 1.20 ms, p99 3.40 ms`. */
export function formatQuantiles(samples: readonly number[]): string {
  return `p50 ${formatMs(quantile(samples, 0.5))}, p99 ${formatMs(quantile(samples, 0.99))}`;
}

/** The report as a Markdown table. */
export function toTable(rows: readonly Row[]): string {
  const lines = rows.map(({ what, goal, figure, samples, isMet }) => {
    const cells = [what, goal ?? '', figure, formatNumber(samples), describeMet(isMet)];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| what | goal | figure | samples | met |', '|---|---|---|---:|---|', ...lines].join('\n');
}

/** Whether a goal is met, to be seen at a glance where it is not; empty where there is none. */
export function describeMet(isMet: boolean | null): string {
  if (isMet === null) return '';
  return isMet ? 'yes' : '🔴 **no**';
}
