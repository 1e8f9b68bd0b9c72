import { html, nothing } from 'lit';
import type { Drawing } from '../elements/drawing.ts';
import type { Flag } from './flag.ts';
import type { ResultStrings } from './strings.ts';

const UP = 'M10 4l6.5 12h-13z';
const DOWN = 'M10 16l6.5-12h-13z';

/** The shape of each flag: up, down, beside the way, stop. Who sees no colours sees the shape and reads the word. */
const SHAPES: Readonly<
  Record<Exclude<Flag, 'unknown'>, readonly [shape: string, word: keyof ResultStrings]>
> = {
  normal: ['M4.5 10.5l3.5 3.5 7.5-8', 'normal'],
  high: [UP, 'high'],
  low: [DOWN, 'low'],
  abnormal: ['M10 3l7 7-7 7-7-7z', 'abnormal'],
  critical: ['M7 3h6l4 4v6l-4 4H7l-4-4V7z', 'critical'],
  'critical-high': [UP, 'criticalHigh'],
  'critical-low': [DOWN, 'criticalLow'],
};

/** A flag as a shape and a word; nothing where it is not known how the value compares. */
export function drawFlag(flag: Flag | null, texts: ResultStrings): Drawing {
  if (!flag || flag === 'unknown') return nothing;
  const [shape, word] = SHAPES[flag];
  const kind = flag.startsWith('critical') ? 'critical' : flag;
  return html`
    <span class="flag ${kind}" part="flag ${kind}">
      <svg class="shape" viewBox="0 0 20 20" aria-hidden="true"><path d=${shape} /></svg>${texts[word]}</span>`;
}
