import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import { makeFolder } from '../../test/support/folder.ts';
import { startGatewayProcess } from '../../test/support/gateway-process.ts';
import { ensureTools, findChromium } from '../../test/support/tools.ts';
import { quantile } from '../support/figures.ts';
import { installLocked } from '../support/install.ts';

/** The scores that the demo page must have. */
const goals = { performance: 95, accessibility: 100, 'best-practices': 100, seo: 100 } as const;
type Category = keyof typeof goals;
const categories = Object.keys(goals) as readonly Category[];

const usage = `npm run lighthouse -- [--runs 5] [--url <address>]

Loads the demo page as Lighthouse's phone does (slow network, slow processor), and prints for each category the median of
the runs, and what was found. Exits with 1 when a median is below its goal: ${categories.map((name) => `${name} ${goals[name]}`).join(', ')}.
--url names a gateway that is running; otherwise one is started.`;

/** Runs Lighthouse and prints the scores. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '5' },
      url: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const runs = Number(values.runs);
  if (values.help || !(runs > 0)) {
    process.stdout.write(`${usage}\n`);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  await ensureTools();
  installLocked(folder);
  const reports = values.url === undefined ? await visitOwn(runs) : await visit(values.url, runs);
  const medians = categories.map((name) => describe(name, reports));
  process.stdout.write(`${medians.map(({ text }) => text).join('\n')}\n`);
  for (const line of describeFindings(reports)) process.stdout.write(`${line}\n`);
  if (medians.some(({ isMet }) => !isMet)) process.exitCode = 1;
}

/** Only what is read of Lighthouse's report. */
const reportShape = z.object({
  categories: z.record(
    z.string(),
    z.object({ score: z.number(), auditRefs: z.array(z.object({ id: z.string(), weight: z.number() })) }),
  ),
  audits: z.record(
    z.string(),
    z.object({ title: z.string(), score: z.number().nullable(), displayValue: z.string().optional() }),
  ),
});
type Report = z.output<typeof reportShape>;

/** The gateway as `npm start` runs it. */
async function visitOwn(runs: number): Promise<readonly Report[]> {
  using data = makeFolder();
  const gateway = await startGatewayProcess(data.path, { PORT: '0' });
  try {
    return await visit(gateway.url, runs);
  } finally {
    await gateway.end('SIGTERM');
  }
}

const folder = new URL('.', import.meta.url);
const cli = fileURLToPath(new URL('node_modules/lighthouse/cli/index.js', folder));

async function visit(url: string, runs: number): Promise<readonly Report[]> {
  const reports: Report[] = [];
  for (let number = 1; number <= runs; number += 1) {
    const flags = [
      '--quiet',
      '--output=json',
      '--no-enable-error-reporting',
      `--only-categories=${categories.join(',')}`,
    ];
    const chrome = '--chrome-flags=--headless=new --no-sandbox --disable-gpu';
    const { stdout } = await promisify(execFile)(process.execPath, [cli, url, ...flags, chrome], {
      env: { ...process.env, CHROME_PATH: (await findChromium()) ?? '' },
      maxBuffer: 2 ** 26,
    });
    const report = reportShape.parse(JSON.parse(stdout));
    reports.push(report);
    process.stderr.write(
      `${number}: ${categories.map((name) => `${name} ${scoreOf(report, name)}`).join(', ')}\n`,
    );
  }
  return reports;
}

function scoreOf({ categories: scores }: Report, name: Category): number {
  return Math.round((scores[name]?.score ?? 0) * 100);
}

function describe(name: Category, reports: readonly Report[]) {
  const median = quantile(
    reports.map((report) => scoreOf(report, name)),
    0.5,
  );
  const isMet = median >= goals[name];
  return { isMet, text: `${name}: ${median} (goal ${goals[name]}${isMet ? '' : ', missed'})` };
}

/** What the last run would improve: audits that count and are not perfect. */
function describeFindings(reports: readonly Report[]): readonly string[] {
  const last = reports.at(-1);
  if (last === undefined) return [];
  const counted = Object.values(last.categories).flatMap(({ auditRefs }) =>
    auditRefs.filter(({ weight }) => weight > 0),
  );
  return counted.flatMap(({ id }) => {
    const audit = last.audits[id];
    if (audit === undefined || audit.score === null || audit.score >= 1) return [];
    return [`  ${audit.title} ${audit.displayValue ?? ''} (${Math.round(audit.score * 100)})`];
  });
}
