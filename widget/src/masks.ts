/**
 * Tools that record sessions look into shadow roots; each is told in its own word to leave out the texts that stand
 * here.
 */
export const MASKED = {
  class: 'fs-mask rr-mask sentry-mask ph-no-capture',
  'data-private': true,
  'data-dd-privacy': 'mask',
  'data-hj-suppress': true,
  'data-clarity-mask': 'true',
  'data-openreplay-masked': true,
} as const;

/** The same for what no recording may hold at all, not even its attributes: an address that opens the portal. */
export const EXCLUDED = {
  ...MASKED,
  class: 'fs-exclude rr-block sentry-block ph-no-capture',
  'data-dd-privacy': 'hidden',
} as const;
