/** The longest delay that Node accepts. For a longer or negative one it warns and waits 1 ms. */
const maxDelayMs = 2 ** 31 - 1;

/** Makes a computed time a valid delay for `setTimeout`; a time in the past gives 0. */
export function toDelay(ms: number): number {
  return ms >= 1 ? Math.min(ms, maxDelayMs) : 1;
}
