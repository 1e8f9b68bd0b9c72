/** What all charts share: small SVGs of their own, for light and dark pages. */

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

const width = 860;
export const margin = 28;
const legendLine = 22;
const legendColumns = 2;

const style = `
  text { font: 13px system-ui, sans-serif; fill: #57606a }
  .title { font-size: 17px; font-weight: 600; fill: #1f2328 }
  .group { font-weight: 600; fill: #1f2328 }
  .page { fill: #ffffff; stroke: #d0d7de }
  .grid { stroke: #eaeef2 }
  .line { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round }
  .bar { stroke-width: 11; stroke-linecap: butt }
  .goal { stroke: #8c959f; stroke-dasharray: 5 5; stroke-width: 1.5 }
  .c0 { stroke: #0969da } .c1 { stroke: #1a7f37 } .c2 { stroke: #bc4c00 } .c3 { stroke: #8250df }
  .c4 { stroke: #bf3989 } .c5 { stroke: #9a6700 } .c6 { stroke: #1b7c83 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .title, .group { fill: #f0f6fc }
    .page { fill: #0d1117; stroke: #3d444d }
    .grid { stroke: #21262d }
    .goal { stroke: #656c76 }
    .c0 { stroke: #4493f8 } .c1 { stroke: #3fb950 } .c2 { stroke: #f0883e } .c3 { stroke: #ab7df8 }
    .c4 { stroke: #db61a2 } .c5 { stroke: #d29922 } .c6 { stroke: #39c5cf }
  }`;
const colours = 7;

/** A line of the legend. */
export interface Entry {
  readonly name: string;
  /** A goal or a bound, not a measurement. */
  readonly isGoal?: boolean | undefined;
}

interface Page {
  readonly title: string;
  readonly subtitle: string;
  /** Where the drawing ends and the legend begins. */
  readonly bottom: number;
  readonly legend: readonly Entry[];
}

/** @returns the text of an SVG file around what was drawn */
export function drawPage({ title, subtitle, bottom, legend }: Page, drawn: readonly string[]): string {
  const height = bottom + legendLine * Math.ceil(legend.length / legendColumns);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">`,
    `<style>${style}\n</style>`,
    `<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>`,
    `<text class="title" x="${margin}" y="38">${escapeXml(title)}</text>`,
    `<text x="${margin}" y="64">${escapeXml(subtitle)}</text>`,
    ...drawn,
    ...legend.flatMap((entry, index) => drawEntry(entry, { index, bottom })),
    '</svg>',
  ];
  return `${parts.join('\n')}\n`;
}

/** The classes of what is drawn for an entry of the legend. */
export function lookOf({ isGoal }: Entry, index: number): string {
  return isGoal ? 'goal' : `c${index % colours}`;
}

function drawEntry(entry: Entry, { index, bottom }: { readonly index: number; readonly bottom: number }) {
  const left = margin + (index % legendColumns) * ((width - 2 * margin) / legendColumns);
  const middle = bottom + legendLine * Math.floor(index / legendColumns);
  return [
    `<line class="line ${lookOf(entry, index)}" x1="${left}" x2="${left + 24}" y1="${middle - 4}" y2="${middle - 4}"/>`,
    `<text x="${left + 34}" y="${middle}">${escapeXml(entry.name)}</text>`,
  ];
}

/** From a value to its place. What lies outside the ticks is drawn at the edge. */
export function createScale(
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

/** Powers of ten around these values: the ticks of a logarithmic axis. */
export function decadesAround(values: readonly number[], label: (value: number) => string): readonly Tick[] {
  const [first, last] = [
    Math.floor(Math.log10(Math.min(...values))),
    Math.ceil(Math.log10(Math.max(...values))),
  ];
  return Array.from({ length: Math.max(2, last - first + 1) }, (_, index) => {
    const at = 10 ** (first + index);
    return { at, label: label(at) };
  });
}

const evenSteps = 5;

/** From 0 to at least so much, in about five even steps of round numbers. */
export function ticksTo(most: number, label: (value: number) => string): readonly Tick[] {
  const step = niceStep(most / evenSteps);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => {
    const at = Number((index * step).toPrecision(3));
    return { at, label: label(at) };
  });
}

/** 1, 2 or 5 times a power of ten, at least so much. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((each) => each * power >= least) ?? 10;
  return factor * power;
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
