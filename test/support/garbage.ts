import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Runs a full collection of the garbage collector. */
export const collectGarbage: () => void = runInNewContext('gc');
