import type { Distribution, Row } from '../support/figures.ts';
import type { MemoryPoint } from './idle.ts';

/** What the bench found out over one store. */
export interface DeliveryReport {
  readonly store: string;
  readonly rows: readonly Row[];
  readonly distributions: readonly Distribution[];
  readonly memory: readonly MemoryPoint[];
}
export function writeReport(_reports: readonly DeliveryReport[]): void {}
