import type { CollectedSpan } from '../support/collector.ts';

/** By the numbers of OTLP. */
const kinds = ['', 'internal', 'server', 'client', 'producer', 'consumer'];

interface Line {
  readonly span: CollectedSpan;
  readonly name: string;
}

/**
 * The spans as trees, in the order of their roots: when each began, counted from the first root, how long it took, its
 * name, kind and gateway. Below are the attributes. A span that a link leads to has a number, because ids change.
 */
export function printTraces(spans: readonly CollectedSpan[]): string {
  const roots = spans.filter(({ parentSpanId }) => spans.every(({ spanId }) => spanId !== parentSpanId));
  const lines = roots.flatMap((root) => [{ span: root, name: root.name }, ...descend(root, spans, '')]);
  const linked = spans.filter(({ spanId }) => spans.some(({ links }) => links.includes(spanId)));
  const width = Math.max(...lines.map(({ name }) => name.length));
  const tree = lines.map(({ span, name }) => {
    const begins = formatTime(Math.round(span.startedAtMs - (roots[0]?.startedAtMs ?? 0)), 0);
    const note = describeLinks(span, linked);
    const kind = (kinds[span.kind] ?? '').padEnd(8);
    return `${begins}${formatTime(span.durationMs, 1)}  ${name.padEnd(width)}  ${kind}  ${span.service}${note}`;
  });
  const head = `${'begins'.padStart(timeWidth)}${'takes'.padStart(timeWidth)}`;
  return [head, ...tree, '', ...describeAttributes(lines)].join('\n');
}

/** The same text without its times: what every run prints. */
export function withoutTimes(text: string): string {
  return text.replaceAll(/^ *-?\d[\d.]* ms +\d[\d.]* ms/gm, '');
}

function descend(parent: CollectedSpan, spans: readonly CollectedSpan[], indent: string): readonly Line[] {
  const children = spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId).toSorted(byStart);
  return children.flatMap((span, index) => {
    const isLast = index === children.length - 1;
    const line = { span, name: `${indent}${isLast ? '└─' : '├─'} ${span.name}` };
    return [line, ...descend(span, spans, `${indent}${isLast ? '   ' : '│  '}`)];
  });
}

function byStart(a: CollectedSpan, b: CollectedSpan): number {
  return a.startedAtMs - b.startedAtMs;
}

const timeWidth = 10;

function formatTime(ms: number, digits: number): string {
  return `${ms.toFixed(digits)} ms`.padStart(timeWidth);
}

function describeLinks({ spanId, links }: CollectedSpan, linked: readonly CollectedSpan[]): string {
  const numberOf = (wanted: string) => linked.findIndex((span) => span.spanId === wanted) + 1;
  const own = numberOf(spanId) > 0 ? ` [${numberOf(spanId)}]` : '';
  return `${own}${links.map((link) => ` link to [${numberOf(link)}]`).join('')}`;
}

/** The attributes of each name, once. The port is another one in every run. */
function describeAttributes(lines: readonly Line[]): readonly string[] {
  const all = lines.map(({ span: { name, attributes } }) => {
    const pairs = Object.entries({
      ...attributes,
      ...('server.port' in attributes ? { 'server.port': '…' } : {}),
    });
    const text = pairs.map(([key, value]) => `${key}=${value}`).toSorted();
    return `${name}: ${text.join(' ') || 'none'}`;
  });
  return [...new Set(all)];
}
