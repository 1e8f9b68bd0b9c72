import { type Axis, createScale, drawPage, escapeXml, lookOf, margin } from './chart.ts';

export interface Bar {
  /** Which of the chart's names it belongs to. */
  readonly series: number;
  /** Where it begins; at the start of the axis when left out. */
  readonly from?: number;
  readonly to: number;
  readonly label: string;
}

export interface BarGroup {
  readonly name: string;
  readonly bars: readonly Bar[];
}

export interface BarChart {
  readonly title: string;
  readonly axis: Axis;
  readonly names: readonly string[];
  readonly groups: readonly BarGroup[];
}

const plot = { left: margin, right: 720, top: 96 };
const heights = { name: 20, bar: 16, gap: 14 };

/** @returns the text of an SVG file: groups of bars that lie, one below the other */
export function drawBars({ title, axis, names, groups }: BarChart): string {
  const toX = createScale(axis, plot.left, plot.right);
  const drawn: string[] = [];
  let y = plot.top;
  for (const { name, bars } of groups) {
    drawn.push(`<text class="group" x="${plot.left}" y="${y}">${escapeXml(name)}</text>`);
    y += heights.name;
    for (const { series, from, to, label } of bars) {
      const [start, end] = [from === undefined ? plot.left : toX(from), toX(to)];
      // Equal ends would draw nothing.
      const place = `x1="${start}" x2="${Math.max(end, start + 2)}" y1="${y - 4}" y2="${y - 4}"`;
      drawn.push(`<line class="bar ${lookOf({ name }, series)}" ${place}/>`);
      drawn.push(`<text x="${Math.max(end, start + 2) + 8}" y="${y}">${escapeXml(label)}</text>`);
      y += heights.bar;
    }
    y += heights.gap;
  }
  const bottom = y - heights.gap;
  const grid = axis.ticks.flatMap(({ at, label }) => [
    `<line class="grid" x1="${toX(at)}" x2="${toX(at)}" y1="${plot.top - 14}" y2="${bottom}"/>`,
    `<text x="${toX(at)}" y="${bottom + 20}" text-anchor="middle">${escapeXml(label)}</text>`,
  ]);
  const legend = names.map((name) => ({ name }));
  return drawPage({ title, subtitle: axis.label, bottom: bottom + 54, legend }, [...grid, ...drawn]);
}
