import process from 'node:process';

/** Milliseconds of a clock that all processes of a machine share (CLOCK_MONOTONIC on Linux). */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
