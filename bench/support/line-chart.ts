/** A line chart as a small SVG of its own, for light and dark pages. */

export interface Tick {
  /** Where it stands, in the values of its axis. */
  readonly at: number;
  readonly label: string;
}

export interface Axis {
  readonly label: string;
  /** From the first to the last. */
  readonly ticks: readonly Tick[];
  /** From a value to a number that grows evenly along the axis; a logarithmic axis gives `Math.log`. */
  readonly scale?: (value: number) => number;
}

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

const width = 860;
const plot = { left: 86, right: 816, top: 84, height: 320 };
const bottom = plot.top + plot.height;
const legendLine = 22;
const legendColumns = 2;

const style = `
  text { font: 13px system-ui, sans-serif; fill: #57606a }
  .title { font-size: 17px; font-weight: 600; fill: #1f2328 }
  .page { fill: #ffffff; stroke: #d0d7de }
  .grid { stroke: #eaeef2 }
  .line { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round }
  .goal { stroke: #8c959f; stroke-dasharray: 5 5; stroke-width: 1.5 }
  .c0 { stroke: #0969da } .c1 { stroke: #1a7f37 } .c2 { stroke: #bc4c00 } .c3 { stroke: #8250df }
  .c4 { stroke: #bf3989 } .c5 { stroke: #9a6700 } .c6 { stroke: #1b7c83 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .title { fill: #f0f6fc }
    .page { fill: #0d1117; stroke: #3d444d }
    .grid { stroke: #21262d }
    .goal { stroke: #656c76 }
    .c0 { stroke: #4493f8 } .c1 { stroke: #3fb950 } .c2 { stroke: #f0883e } .c3 { stroke: #ab7df8 }
    .c4 { stroke: #db61a2 } .c5 { stroke: #d29922 } .c6 { stroke: #39c5cf }
  }`;
const colours = 7;

/** @returns the text of an SVG file */
export function drawChart({ title, x, y, series }: Chart): string {
  const toX = createScale(x, plot.left, plot.right);
  const toY = createScale(y, bottom, plot.top);
  const height = bottom + 72 + legendLine * Math.ceil(series.length / legendColumns);
  const shown = series.map((each, index) => ({ ...each, look: lookOf(each, index) }));
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">`,
    `<style>${style}\n</style>`,
    `<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>`,
    `<text class="title" x="28" y="38">${escapeXml(title)}</text>`,
    `<text x="28" y="64">${escapeXml(y.label)}</text>`,
    ...y.ticks.flatMap(({ at, label }) => [
      `<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${toY(at)}" y2="${toY(at)}"/>`,
      `<text x="${plot.left - 10}" y="${round(toY(at) + 4)}" text-anchor="end">${escapeXml(label)}</text>`,
    ]),
    ...x.ticks.map(
      ({ at, label }) =>
        `<text x="${toX(at)}" y="${bottom + 22}" text-anchor="middle">${escapeXml(label)}</text>`,
    ),
    `<text x="${(plot.left + plot.right) / 2}" y="${bottom + 44}" text-anchor="middle">${escapeXml(x.label)}</text>`,
    ...shown.map(({ points, look }) => {
      const places = points.map(([atX, atY]) => `${toX(atX)},${toY(atY)}`).join(' ');
      return `<polyline class="line ${look}" points="${places}"/>`;
    }),
    ...shown.flatMap(({ name, look }, index) => drawLegend(name, { look, index })),
    '</svg>',
  ];
  return `${parts.join('\n')}\n`;
}

function lookOf({ isGoal }: Series, index: number): string {
  return isGoal ? 'goal' : `c${index % colours}`;
}

function drawLegend(name: string, { look, index }: { readonly look: string; readonly index: number }) {
  const left = 28 + (index % legendColumns) * ((width - 56) / legendColumns);
  const middle = bottom + 72 + legendLine * Math.floor(index / legendColumns);
  return [
    `<line class="line ${look}" x1="${left}" x2="${left + 24}" y1="${middle - 4}" y2="${middle - 4}"/>`,
    `<text x="${left + 34}" y="${middle}">${escapeXml(name)}</text>`,
  ];
}

/** What lies outside the ticks is drawn at the edge. */
function createScale(
  { ticks, scale = (value) => value }: Axis,
  from: number,
  to: number,
): (value: number) => number {
  const [first, last] = [scale(ticks.at(0)?.at ?? 0), scale(ticks.at(-1)?.at ?? 1)];
  return (value) => {
    const share = Math.min(1, Math.max(0, (scale(value) - first) / (last - first)));
    return round(from + share * (to - from));
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
