import process from 'node:process';
import { openEventStore } from '../../gateway/events/open.ts';
import { runProcess } from '../../gateway/process.ts';
import { faults } from './faults.ts';

// The gateway's process, over a store with the fault that FAULT names.
const spoil = faults[process.env.FAULT ?? ''];
if (spoil === undefined) throw new Error('FAULT names no fault.');
await runProcess({ openStore: async (...given) => spoil(await openEventStore(...given)) });
