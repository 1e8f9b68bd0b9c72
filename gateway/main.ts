import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

/**
 * Keeps what V8 compiles, and the types stripped, for the next start: webhooks wait for it. What is imported before
 * is compiled anew each time, so everything is imported after. Where the folder cannot be written, each start compiles.
 */
enableCompileCache(fileURLToPath(new URL('../.cache/compiled', import.meta.url)));

/** The heap grows to twice what is alive before V8 collects garbage, not to four times: decision 0091. */
setFlagsFromString('--heap-growing-percent=100');

const { runProcess } = await import('./process.ts');
await runProcess();
