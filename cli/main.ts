import process from 'node:process';
import { type Program, runInProcess } from '../gateway/commands/program.ts';
import { program } from './program.ts';

const args = process.argv.slice(2);
const [name = '', ...rest] = args[0] === 'help' ? args.slice(1) : args;

if (name === 'events') await forward((await import('../gateway/commands/events.ts')).program);
else if (name === 'audit') await forward((await import('../gateway/commands/audit.ts')).program);
else await runInProcess(program);

/** `labgraph events dead`, and `labgraph help events dead`. */
async function forward<Store>(to: Program<Store>): Promise<void> {
  await runInProcess({ ...to, call: `labgraph ${name}` }, args[0] === 'help' ? ['help', ...rest] : rest);
}
