import type { Reading } from './reading.ts';

export interface AuditTrailConfig {
  readonly folder: string;
  /** 32 bytes each; the first writes, all verify. */
  readonly keys: readonly [Buffer, ...Buffer[]];
}

/**
 * On in production and where it is configured. Otherwise a trial of the gateway would fill a folder that nobody reads.
 */
export function readAuditTrail(reading: Reading): AuditTrailConfig | null {
  const text = reading.text('AUDIT_TRAIL') ?? (reading.production ? 'file:./data/audit' : 'off');
  const [first, ...older] = reading.keys('AUDIT_TRAIL_KEY');
  if (text === 'off') return null;
  const folder = text.startsWith('file:') ? text.slice('file:'.length) : '';
  if (folder === '') reading.fault('AUDIT_TRAIL must be file:<folder> or off.');
  if (first === undefined) {
    if (!reading.hasFault('AUDIT_TRAIL_KEY'))
      reading.fault(
        'AUDIT_TRAIL_KEY is missing: what links the audit trail is never generated (or AUDIT_TRAIL=off).',
      );
    return null;
  }
  return { folder, keys: [first, ...older] };
}
