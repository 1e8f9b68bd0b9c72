import process from 'node:process';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { type Besieged, holdMany, sendHostile, sendMalformed } from './siege.ts';

const connections = 1000;
const withinMs = 12_000;
const refusedWithinMs = 50;
const token = 'a gateway key of the siege'.replaceAll(' ', '-');
const webhookSecret = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;

const print = (line: string) => process.stdout.write(`${line}\n`);

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

  const held = await holdMany(besieged, { count: connections, patienceMs: 2 * withinMs });
  print(
    `\n${held.closedByGateway} of ${held.opened} slow connections closed, the last after ${held.slowestMs} ms;` +
      ` ${held.answers} normal queries meanwhile, the slowest in ${held.slowestAnswerMs} ms`,
  );
  return isHeld && held.closedByGateway === held.opened && held.slowestMs <= withinMs;
}

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
process.exitCode = isHeld ? 0 : 1;
