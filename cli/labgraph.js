#!/usr/bin/env node
import '../node-version.js';

// After the check, because an older Node cannot even load the rest.
await import('./main.ts');
