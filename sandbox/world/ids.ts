import { hash } from 'node:crypto';

function digest(seed: number, kind: string, ordinal: number): Buffer {
  return hash('sha256', `${seed}/${kind}/${ordinal}`, 'buffer');
}

/** A UUID (version 4 in shape) that is always the same for one seed, kind and ordinal. */
export function seededUuid(seed: number, kind: string, ordinal: number): string {
  const hex = digest(seed, kind, ordinal).toString('hex');
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** A whole number from 0 to 2^32 - 1 that is always the same for one seed, kind and ordinal. */
export function seededNumber(seed: number, kind: string, ordinal: number): number {
  return digest(seed, kind, ordinal).readUInt32BE(0);
}
