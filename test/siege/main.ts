import process from 'node:process';
import { parseArgs } from 'node:util';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { attacks } from './attacks.ts';
import { bounds, findBroken, printRound, roundHead } from './bounds.ts';
import { runRound } from './round.ts';
import { type Besieged, holdMany, sendHostile, sendMalformed } from './siege.ts';

const connections = 1000;
const withinMs = 12_000;
const refusedWithinMs = 50;
const token = 'a-gateway-key-of-the-siege';
const webhookSecret = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;

const requests = 'requests';
const names = [requests, ...Object.keys(attacks)];
const usage = `npm run siege -- [--only <name>] [--attack-seconds 8]

Attacks gateways with default limits from outside, and ends with 1 when a bound is broken. Without --only all of:
${names.map((name) => `  ${name}`).join('\n')}`;

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Malformed bodies, hostile queries and slow connections, all at one gateway. */
async function sendRequests(): Promise<boolean> {
  using folder = makeFolder();
  const gateway = await startGatewayProcess(folder.path, {
    PORT: '0',
    GATEWAY_API_KEYS: token,
    WEBHOOK_SECRETS: webhookSecret,
    LOG_LEVEL: 'error',
  });
  const isHeld = await besiege({ url: gateway.url, token, webhookSecret });
  await gateway.end('SIGTERM');
  print(gateway.output.filter((line) => line.startsWith('{')).join('\n'));
  return isHeld;
}

async function besiege(besieged: Besieged): Promise<boolean> {
  let isHeld = true;
  print('| malformed bodies to | sent | answers by status | 5xx | echoed |\n|---|---|---|---|---|');
  for (const path of ['/graphql', '/webhooks', '/webhooks, signed'] as const) {
    const { sent, statuses, failed, echoed } = await sendMalformed(besieged, path);
    const answers = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
    print(`| ${path} | ${sent} | ${answers.join(', ')} | ${failed.length} | ${echoed.length} |`);
    isHeld &&= failed.length === 0 && echoed.length === 0;
  }

  print('\n| hostile query | over | refused as | ms |\n|---|---|---|---|');
  for (const { name, transport, code, ms } of await sendHostile(besieged, 3)) {
    print(`| ${name} | ${transport} | ${code} | ${ms} |`);
    isHeld &&= code !== null && /^[A-Z_]+$/.test(code) && code !== 'INTERNAL' && ms < refusedWithinMs;
  }

  const held = await holdMany(besieged, { count: connections, timeoutMs: 2 * withinMs });
  print(
    `\n${held.closedByGateway} of ${held.opened} slow connections closed, the last after ${held.slowestMs} ms;` +
      ` ${held.answers} normal queries meanwhile, the slowest in ${held.slowestAnswerMs} ms`,
  );
  return isHeld && held.closedByGateway === held.opened && held.slowestMs <= withinMs;
}

/** Each attack at a gateway of its own. */
async function attackEach(chosen: readonly string[], attackMs: number): Promise<boolean> {
  let isHeld = true;
  print(
    `\nEach attack goes on for ${attackMs / 1000} s, then SIGTERM comes in the middle of it. Attackers are a process of their own, niced by 10.
The viewer's times are in ms, those of health the slowest; memory is resident, the processor share is of one core.
Bounds: ${bounds.memoryMiB} MiB, p95 ${bounds.slowdown} times the quiet one, 0 webhooks turned away, health ${bounds.healthMs} ms, end ${bounds.endMs} ms.\n`,
  );
  print(roundHead);
  for (const name of chosen) {
    const report = await runRound({ name, quietMs: 3000, attackMs });
    const broken = findBroken(report);
    print(printRound(report, broken));
    isHeld &&= broken.length === 0;
  }
  return isHeld;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    'attack-seconds': { type: 'string', default: '8' },
    help: { type: 'boolean', default: false },
  },
});
const { only } = values;
if (values.help || (only !== undefined && !names.includes(only))) {
  print(usage);
  process.exit(values.help ? 0 : 1);
}
const isHeldByRequests = only !== undefined && only !== requests ? true : await sendRequests();
const chosen = Object.keys(attacks).filter((name) => name === (only ?? name));
const isHeldByAttacks =
  chosen.length === 0 ? true : await attackEach(chosen, Number(values['attack-seconds']) * 1000);
process.exitCode = isHeldByRequests && isHeldByAttacks ? 0 : 1;
