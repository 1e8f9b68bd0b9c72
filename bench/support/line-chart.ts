import { type Axis, createScale, drawPage, escapeXml, lookOf, round } from './chart.ts';

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** A goal or a bound, not a measurement. */
  readonly isGoal?: boolean;
}

export interface Chart {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

const plot = { left: 86, right: 816, top: 84, height: 320 };
const bottom = plot.top + plot.height;

/** @returns the text of an SVG file */
export function drawChart({ title, x, y, series }: Chart): string {
  const toX = createScale(x, plot.left, plot.right);
  const toY = createScale(y, bottom, plot.top);
  return drawPage({ title, subtitle: y.label, bottom: bottom + 72, legend: series }, [
    ...y.ticks.flatMap(({ at, label }) => [
      `<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${toY(at)}" y2="${toY(at)}"/>`,
      `<text x="${plot.left - 10}" y="${round(toY(at) + 4)}" text-anchor="end">${escapeXml(label)}</text>`,
    ]),
    ...x.ticks.map(
      ({ at, label }) =>
        `<text x="${toX(at)}" y="${bottom + 22}" text-anchor="middle">${escapeXml(label)}</text>`,
    ),
    `<text x="${(plot.left + plot.right) / 2}" y="${bottom + 44}" text-anchor="middle">${escapeXml(x.label)}</text>`,
    ...series.map((each, index) => {
      const places = each.points.map(([atX, atY]) => `${toX(atX)},${toY(atY)}`).join(' ');
      return `<polyline class="line ${lookOf(each, index)}" points="${places}"/>`;
    }),
  ]);
}
