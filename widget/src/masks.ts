/**
 * Session recorders look into shadow roots. Each has its own mark for texts that it must not record.
 */
export const MASKED = {
  class: 'fs-mask rr-mask sentry-mask ph-no-capture',
  'data-private': true,
  'data-dd-privacy': 'mask',
  'data-hj-suppress': true,
  'data-clarity-mask': 'true',
  'data-openreplay-masked': true,
} as const;

/** For elements whose attributes must not be recorded either: an address that opens the portal. */
export const EXCLUDED = {
  ...MASKED,
  class: 'fs-exclude rr-block sentry-block ph-no-capture',
  'data-dd-privacy': 'hidden',
} as const;
