#!/usr/bin/env node
import '../preload.js';

// After the check, because an older Node cannot even load the rest.
await import('./main.ts');
