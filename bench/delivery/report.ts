import { writeFileSync } from 'node:fs';
import { type Row, toTable } from '../support/figures.ts';
import { describeMachine } from '../support/machine.ts';

/** The figures of one store. */
export interface DeliveryReport {
  readonly store: string;
  readonly rows: readonly Row[];
}

/** Writes the reports to docs/performance-delivery.md. */
export function writeReports(reports: readonly DeliveryReport[]): void {
  const sections = reports.map(({ store, rows }) => `## Over ${store}\n\n${toTable(rows)}\n`);
  const page = `# How fast is delivery?

Measured by \`npm run bench -- delivery --write\` on ${describeMachine()}.

Gateways, posters and subscribers are separate processes on one machine, with one clock. Over Redis there are two
gateways: one receives the webhooks, the other has the subscribers. As in production, bodies are encrypted and every append
is synced to disk. Each figure follows a warm-up. The service answers at once, so the figures are the gateway's own.

${sections.join('\n')}`;
  writeFileSync(new URL('../../docs/performance-delivery.md', import.meta.url), page);
}
