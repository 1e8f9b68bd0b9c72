import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/** As in gateway/main.ts, which is the primary's beginning. */
enableCompileCache(fileURLToPath(new URL('../../.cache/compiled', import.meta.url)));

const { runWorker } = await import('./worker.ts');
await runWorker();
