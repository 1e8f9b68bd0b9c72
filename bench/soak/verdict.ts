import { formatMs, formatNumber, quantile, type Row } from '../support/figures.ts';
import type { Soaked } from './run.ts';
import type { Sample } from './sample.ts';

/** A measure that must not grow from the second third of the soak to the last. */
interface Level {
  readonly what: string;
  readonly of: (sample: Sample) => number;
  readonly format: (value: number) => string;
  /** The allowed growth: a share of the second third, plus a constant for noise. */
  readonly maxShare: number;
  readonly slack: number;
}

const megabyte = 1e6;
const formatMegabytes = (bytes: number) => `${(bytes / megabyte).toFixed(1)} MB`;

const levels: readonly Level[] = [
  {
    what: 'live objects, after garbage was collected',
    of: ({ heapBytes }) => heapBytes,
    format: formatMegabytes,
    ...{ maxShare: 0.03, slack: 0 },
  },
  {
    what: 'resident memory',
    of: ({ rssBytes }) => rssBytes,
    format: formatMegabytes,
    ...{ maxShare: 0.05, slack: 0 },
  },
  { what: 'open files', of: ({ files }) => files, format: formatNumber, ...{ maxShare: 0.05, slack: 4 } },
  {
    what: 'resources that keep the event loop alive',
    of: ({ resources }) => resources,
    format: formatNumber,
    ...{ maxShare: 0.05, slack: 4 },
  },
  { what: 'p99 of requests', of: ({ p99Ms }) => p99Ms, format: formatMs, ...{ maxShare: 0.25, slack: 5 } },
  {
    what: 'p99 of the lag of the event loop',
    of: ({ loopLagMs }) => loopLagMs,
    format: formatMs,
    ...{ maxShare: 0.25, slack: 5 },
  },
];

/** All results, each with its goal. */
export function judge(soaked: Soaked): readonly Row[] {
  const { samples, visits, webhooks, passed, crashes } = soaked;
  const asked = visits.answered + visits.refused + visits.unanswered;
  const none = (what: string, count: number, of: number): Row => {
    return { what, goal: 'none', figure: formatNumber(count), samples: of, isMet: count === 0 };
  };
  return [
    ...levels.map((level) => judgeLevel(samples, level)),
    none('requests without an answer', visits.unanswered, asked),
    none('webhooks never acknowledged', webhooks.lost, webhooks.sent),
    none('items repeated or out of order', passed.wrong, passed.items),
    none('ends of the gateway', crashes, 1),
    count('requests answered with errors, while the service was away', visits.refused, asked),
    count('streams that were refused, and tried again', passed.broken, passed.streams),
  ];
}

function count(what: string, figure: number, of: number): Row {
  return { what, goal: null, figure: formatNumber(figure), samples: of, isMet: null };
}

/** Compares medians, so that one busy period of the machine does not count. */
function judgeLevel(samples: readonly Sample[], { what, of, format, maxShare, slack }: Level): Row {
  const third = Math.ceil(samples.length / 3);
  const median = (part: readonly Sample[]) => quantile(part.map(of), 0.5);
  const [before, after] = [median(samples.slice(third, -third)), median(samples.slice(-third))];
  return {
    what: `${what}: second third, last third`,
    goal: `at most ${maxShare * 100} % more`,
    figure: `${format(before)}, ${format(after)}`,
    samples: samples.length,
    isMet: after <= before * (1 + maxShare) + slack,
  };
}
