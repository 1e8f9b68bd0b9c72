import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Keeps what V8 compiles, and the types stripped, for the next start: webhooks wait for it. What is imported before
 * is compiled anew each time, so everything is imported after. Where the folder cannot be written, each start compiles.
 */
enableCompileCache(fileURLToPath(new URL('../.cache/compiled', import.meta.url)));

const { runProcess } = await import('./process.ts');
await runProcess();
