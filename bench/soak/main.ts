import process from 'node:process';
import { parseArgs } from 'node:util';
import { runCold } from './cold.ts';
import { makePlan } from './plan.ts';
import { describe, describeSample, writeReport } from './report.ts';
import { soak } from './run.ts';
import { judge } from './verdict.ts';

const usage = `npm run soak -- [--minutes 30] [--write]
npm run soak -- cold [--minutes 10] [--users 1000000] [--write]

Runs a gateway under a mixed load while its service fails in several ways, and measures the process after each period.
Exits with 1 when memory, files or latency have grown, or anything was lost. --write puts the table into
docs/performance.md. The second command measures memory alone, under reads of which none comes again.`;

/** Runs the soak and prints its table. */
export async function run(args: readonly string[]): Promise<void> {
  if (args[0] === 'cold') return await runCold(args.slice(1));
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '30' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const minutes = Number(values.minutes);
  if (values.help || !(minutes > 0)) {
    process.stdout.write(`${usage}\n`);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  let number = 0;
  const soaked = await soak(makePlan(minutes), (sample) => {
    number += 1;
    process.stderr.write(`${describeSample(sample, number)}\n`);
  });
  process.stdout.write(`${describe(soaked)}\n`);
  if (values.write) writeReport(soaked);
  if (judge(soaked).some(({ isMet }) => isMet === false)) process.exitCode = 1;
}
