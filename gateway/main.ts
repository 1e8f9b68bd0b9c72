import '../preload.js';
import { setFlagsFromString } from 'node:v8';

/** V8 collects garbage when the heap is 1.6 times as large as the live objects, and not only at four times: decision 0091. */
setFlagsFromString('--heap-growing-percent=60');

// Imported after the compile cache is on.
const { runProcess } = await import('./process.ts');
await runProcess();
