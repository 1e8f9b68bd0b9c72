import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { signedHeaders } from '../gateway/webhooks/support.ts';
import { complete, webhookSecret } from '../support/configuration.ts';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { graphqlRequest } from '../support/lab.ts';

const makeKey = () => randomBytes(24).toString('base64url');

/** A gateway in production over a sandbox, with its keys in files. */
async function startOperated() {
  const folder = makeFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const sandbox = createSandbox({
    apiKey: complete.SERVICE_API_KEY,
    webhookSecret: complete.WEBHOOK_SECRETS,
  });
  onTestFinished(() => sandbox.close());
  const service = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  // As Kubernetes and editors replace a file: whole or not at all.
  const write = (name: string, text: string) => {
    writeFileSync(folder.file(`${name}.new`), text);
    renameSync(folder.file(`${name}.new`), folder.file(name));
  };
  const keys = { first: makeKey(), second: makeKey() };
  write('keys', `web=${keys.first},worker=${complete.GATEWAY_API_KEYS}`);
  write('webhook-secrets', complete.WEBHOOK_SECRETS);
  write('log-key', complete.EVENT_LOG_KEY);
  const { GATEWAY_API_KEYS: worker, WEBHOOK_SECRETS, EVENT_LOG_KEY, ...rest } = complete;
  const gateway = await startGatewayProcess(folder.path, {
    ...{ ...rest, PORT: '0', METRICS_PORT: '0', DRAIN_SECONDS: '4', SERVICE_URL: service.url },
    GATEWAY_API_KEYS_FILE: folder.file('keys'),
    WEBHOOK_SECRETS_FILE: folder.file('webhook-secrets'),
    EVENT_LOG_KEY_FILE: folder.file('log-key'),
  });
  onTestFinished(() => void gateway.end('SIGKILL'));
  const lines = () => gateway.output.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const ask = async (key: string) => {
    const answer = await fetch(graphqlRequest(gateway.url, { query: '{ viewer { kind } }' }, key));
    return (await answer.json()).data?.viewer.kind ?? answer.status;
  };
  const post = async (secret: string) => {
    const body = JSON.stringify({ event_type: 'labtest.note', data: { id: makeKey() } });
    const headers = signedHeaders(body, { secret, id: makeKey() });
    return (await fetch(`${gateway.url}/webhooks`, { method: 'POST', headers, body })).status;
  };
  return { gateway, sandbox, keys, worker, write, lines, ask, post };
}

test('SIGHUP reads new keys from files, SIGTERM drains, and the operator’s address serves every probe', async () => {
  const { gateway, sandbox, keys, worker, write, lines, ask, post } = await startOperated();
  const operator = lines().find(({ event }) => event === 'metrics.listening').address;
  const ready = async (url: string) => {
    const answer = await fetch(`${url}/ready`);
    return [answer.status, (await answer.json()).status];
  };
  expect(await ready(operator)).toEqual([200, 'ready']);
  expect(await ready(gateway.url)).toEqual([200, 'ready']);
  expect((await fetch(`${operator}/health`)).status).toBe(200);
  expect(await (await fetch(`${operator}/metrics`)).text()).toContain('labgraph_event_log_writable');
  expect((await fetch(`${operator}/graphql`)).status).toBe(404);

  // Each change is one line with labels; what takes a restart says so.
  const newSecret = webhookSecret();
  expect([await ask(keys.first), await ask(keys.second), await ask(worker)]).toEqual(['TEAM', 401, 'TEAM']);
  write('keys', `web=${keys.second}\nworker=${worker}\n`);
  write('webhook-secrets', `${newSecret},${complete.WEBHOOK_SECRETS}`);
  write('log-key', `${randomBytes(32).toString('base64')},${complete.EVENT_LOG_KEY}`);
  process.kill(gateway.pid, 'SIGHUP');
  await expect.poll(() => lines().filter(({ event }) => event.startsWith('secret')).length).toBe(4);
  const changes = lines().flatMap(({ event, setting, added, removed, count }) =>
    event.startsWith('secret') ? [[event, setting ?? count, added, removed]] : [],
  );
  expect(changes).toEqual([
    ['secrets.read', 3, undefined, undefined],
    ['secret.changed', 'WEBHOOK_SECRETS', 'secret', ''],
    ['secret.changed', 'GATEWAY_API_KEYS', 'web', 'web'],
    ['secret.needs_restart', 'EVENT_LOG_KEY', 'secret', ''],
  ]);
  expect([await ask(keys.first), await ask(keys.second), await ask(worker)]).toEqual([401, 'TEAM', 'TEAM']);
  expect([await post(newSecret), await post(complete.WEBHOOK_SECRETS)]).toEqual([202, 202]);

  // A fault changes nothing.
  write('keys', 'web=short');
  process.kill(gateway.pid, 'SIGHUP');
  await expect.poll(() => lines().some(({ event }) => event === 'secrets.refused')).toBe(true);
  expect(await ask(keys.second)).toBe('TEAM');
  const secrets = [keys.first, keys.second, worker, newSecret, complete.WEBHOOK_SECRETS];
  expect(secrets.filter((secret) => gateway.output.join('\n').includes(secret))).toEqual([]);

  // The service is the same for all instances: taking this one out would help nobody.
  sandbox.faults.add({ path: '/v2/user', effect: { kind: 'serverError' }, times: 1000 });
  await expect.poll(() => ready(operator)).toEqual([200, 'degraded']);

  const end = gateway.end('SIGTERM');
  await expect.poll(() => ready(operator)).toEqual([503, 'not ready']);
  const asked = await fetch(graphqlRequest(gateway.url, { query: '{ viewer { kind } }' }, worker));
  expect([asked.status, asked.headers.get('connection')]).toEqual([200, 'close']);
  expect(await post(newSecret)).toBe(202);
  expect(await end).toBe(0);
});

test('a SIGHUP during the start takes effect as soon as the gateway has started', async () => {
  using folder = makeFolder();
  const [before, after] = [makeKey(), makeKey()];
  writeFileSync(folder.file('keys'), before);
  const env = { PORT: '0', METRICS_PORT: '0', GATEWAY_API_KEYS_FILE: folder.file('keys') };
  const gateway = await startGatewayProcess(folder.path, env, (line, pid) => {
    // The gateway listens, and the graph is still being loaded.
    if (!line.includes('"metrics.listening"')) return;
    writeFileSync(folder.file('keys'), after);
    process.kill(pid, 'SIGHUP');
  });
  onTestFinished(() => void gateway.end('SIGKILL'));
  await expect.poll(() => gateway.output.some((line) => line.includes('"secret.changed"'))).toBe(true);
  const ask = (key: string) => fetch(graphqlRequest(gateway.url, { query: '{ __typename }' }, key));
  expect([(await ask(before)).status, (await ask(after)).status]).toEqual([401, 200]);
});

test('a first start prints a command that a shell takes as it is, and that brings data', async () => {
  using folder = makeFolder();
  // An address that no browser takes for this machine.
  const gateway = await startGatewayProcess(folder.path, { PORT: '0', HOST: '0.0.0.0' });
  onTestFinished(() => void gateway.end('SIGKILL'));
  const command = await vi.waitFor(() => {
    const line = gateway.output.find((each) => each.startsWith('  curl '));
    return line ?? expect.unreachable('It is printed after the address.');
  });

  // In place of the program, which not every machine has.
  const shell = `curl() { printf '%s\\n' "$@"; }; ${command}`;
  const given = execFileSync('/bin/sh', ['-c', shell], { encoding: 'utf8' }).trim().split('\n');
  const [flags, url = '', , header = '', , encoded = ''] = given;
  const [name = '', value = ''] = header.split(': ');
  const query = encoded.replace('query=', '');
  const answer = await fetch(`${url}?${new URLSearchParams({ query })}`, { headers: { [name]: value } });

  expect([flags, given[2], given[4], given.length]).toEqual(['-sG', '-H', '--data-urlencode', 6]);
  expect(url).toBe(`${gateway.url.replace('0.0.0.0', 'localhost')}/graphql`);
  expect((await answer.json()).data.users.nodes).toHaveLength(2);
});
