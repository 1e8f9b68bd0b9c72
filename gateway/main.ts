import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

/**
 * Caches compiled code, with types stripped, for the next start, because webhooks wait for it. Modules that are
 * imported before this line are compiled in each start, so all others are imported after it. If the folder cannot be
 * written, every start compiles everything.
 */
enableCompileCache(fileURLToPath(new URL('../.cache/compiled', import.meta.url)));

/** V8 collects garbage when the heap has grown to twice the live objects, and not only at four times: decision 0091. */
setFlagsFromString('--heap-growing-percent=100');

const { runProcess } = await import('./process.ts');
await runProcess();
