import type { CssProperty, Named } from './types.ts';

/** Slots of both visible elements. */
export const statusSlots: readonly Named[] = [
  { name: 'empty', text: 'Shown where there is no order.' },
  { name: 'loading', text: 'Shown until the first status is there.' },
  { name: 'offline', text: 'Replaces the text of the age while offline.' },
  { name: 'error', text: 'Replaces the text of every error.' },
  { name: 'error-<code>', text: 'Replaces the text of one error, as in `error-demographics-missing`.' },
  { name: 'footer', text: 'Below everything.' },
];

/** Parts of an order shown as text or steps. */
export const statusParts: readonly Named[] = [
  { name: 'text', text: 'The status as one line, and an error.' },
  { name: 'steps', text: 'The list of steps.' },
  { name: 'step', text: 'One step; also `done`, `current`, `reached` or `ahead`.' },
  { name: 'mark', text: 'The round mark before a status or step; also how it looks.' },
  { name: 'done', text: 'A step or mark: behind the order.' },
  { name: 'current', text: 'A step or mark: where the order is.' },
  { name: 'reached', text: 'A step or mark: begun before, not current now.' },
  { name: 'ahead', text: 'A step or mark: not begun.' },
  { name: 'attention', text: 'A current step or mark that needs attention.' },
  { name: 'bad', text: 'A current step or mark of an order that was cancelled or failed.' },
  { name: 'disc', text: 'The disc of a mark.' },
  { name: 'line', text: 'The drawing on the disc.' },
  { name: 'words', text: 'The text beside a mark.' },
  { name: 'name', text: 'The name of a step.' },
  { name: 'hidden', text: 'Text for screen readers only.' },
  { name: 'detail', text: 'The status within the current step.' },
  { name: 'label', text: 'The status in words.' },
  { name: 'headline', text: 'The status as one line.' },
  { name: 'badge', text: 'The note that the order needs attention.' },
  { name: 'next', text: 'What comes next.' },
  { name: 'freshness', text: 'How old the status is; also the state of the connection.' },
  { name: 'time', text: 'How long ago; the exact time is its title.' },
  { name: 'connection', text: 'The state of the connection in words, where it is news.' },
  { name: 'idle', text: 'Freshness: nothing is followed.' },
  { name: 'connecting', text: 'Freshness: not yet connected.' },
  { name: 'live', text: 'Freshness: every change arrives at once.' },
  { name: 'stale', text: 'Freshness: the connection was lost and is being restored.' },
  { name: 'polling', text: 'Freshness: read from time to time.' },
  { name: 'offline', text: 'Freshness: there is no network.' },
  { name: 'closed', text: 'Freshness: paused, the page is put away, or the order is not there.' },
  { name: 'test-name', text: 'The name of the test, with `privacy="full"`.' },
  { name: 'empty', text: 'Where there is no order.' },
  { name: 'skeleton', text: 'The placeholder until the first status.' },
  { name: 'bone', text: 'One line of it.' },
  { name: 'error', text: 'An error.' },
  { name: 'retry', text: 'The retry button.' },
];

/** States of both visible elements. */
export const sharedStates: readonly Named[] = [
  { name: 'idle', text: 'Nothing is followed.' },
  { name: 'connecting', text: 'Not yet connected.' },
  { name: 'live', text: 'Every change arrives at once.' },
  { name: 'stale', text: 'The connection was lost and is being restored.' },
  {
    name: 'polling',
    text: 'The order cannot be followed live: it is read from time to time, and the last read succeeded.',
  },
  { name: 'offline', text: 'There is no network.' },
  { name: 'closed', text: 'Not followed: paused, the page is put away, or the order is not there.' },
  { name: 'error', text: 'An error is shown.' },
  { name: 'attention', text: 'The order needs attention.' },
  { name: 'terminal', text: 'The order is final.' },
];

/** Custom properties that a host may set. */
export const cssProperties: readonly CssProperty[] = [
  {
    name: '--portal-accent',
    fallback: 'light-dark(#0b5f7d, #7fcbe6)',
    text: 'Button, current step, focus ring. By default the current step is as light or dark as the text.',
  },
  { name: '--portal-on-accent', fallback: 'light-dark(#fff, #06222e)', text: 'Text on the button.' },
  {
    name: '--portal-good',
    fallback: 'oklch(from currentColor var(--_tone) 0.11 158 / 1)',
    text: 'Completed steps, and the live mark. By default dark on a light page and light on a dark one, as the text is.',
  },
  {
    name: '--portal-on-good',
    fallback: 'oklch(from currentColor var(--_inverse) 0 0)',
    text: 'The tick on a mark that is done.',
  },
  {
    name: '--portal-attention',
    fallback: 'oklch(from currentColor var(--_tone) 0.12 70 / 1)',
    text: 'Steps and marks that need attention.',
  },
  {
    name: '--portal-bad',
    fallback: 'oklch(from currentColor var(--_tone) 0.16 23 / 1)',
    text: 'Cancelled and failed.',
  },
  {
    name: '--portal-muted',
    fallback: 'color-mix(in srgb, currentColor 68%, #0000)',
    text: 'Times, ages, steps ahead.',
  },
  {
    name: '--portal-line',
    fallback: 'color-mix(in srgb, currentColor 22%, #0000)',
    text: 'Lines and borders.',
  },
  { name: '--portal-gap', fallback: '1rem', text: 'Between button and status.' },
  { name: '--portal-radius', fallback: '0.625rem', text: 'Corners of buttons.' },
];
