import { fileURLToPath } from 'node:url';

/** For processes that tests start: else each of them strips types and compiles the same modules again. */
export const compileCache = fileURLToPath(new URL('../../.cache/tests', import.meta.url));
