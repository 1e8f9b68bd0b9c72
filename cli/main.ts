import process from 'node:process';
import { runInProcess } from '../gateway/commands/program.ts';
import { completions } from './completions.ts';
import { program } from './program.ts';

const [name = '', ...rest] = process.argv.slice(2);
const { stdout, stderr } = process;

if (name === 'events') await runInProcess((await import('../gateway/commands/events.ts')).program, rest);
else if (name === 'audit') await runInProcess((await import('../gateway/commands/audit.ts')).program, rest);
else if (name === 'completions') complete(rest[0] ?? '');
else await runInProcess(program);

function complete(shell: string): void {
  const script = completions(shell, [...Object.keys(program.commands), 'events', 'audit', 'completions']);
  if (script === null) process.exitCode = 1;
  (script === null ? stderr : stdout).write(script ?? 'labgraph completions bash|zsh|fish\n');
}
