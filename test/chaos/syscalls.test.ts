import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { signedHeaders } from '../gateway/webhooks/support.ts';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, graphqlRequest, serviceKey, webhookSecret } from '../support/lab.ts';
import { openRabbit } from './broker.ts';
import { canTrace, injectFault, watchFirstStart, watchSyncs } from './syscalls.ts';

const teamId = randomUUID();

/** A gateway in a process of its own, over a service that is not there: webhooks need none. */
async function startGateway(more: Readonly<Record<string, string>> = {}) {
  const folder = makeFolder();
  const gateway = await startGatewayProcess(folder.path, {
    PORT: '0',
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: serviceKey,
    SERVICE_TEAM_ID: teamId,
    WEBHOOK_SECRETS: webhookSecret,
    GATEWAY_API_KEYS: gatewayKey,
    VIEWER_TOKEN_SECRET: 'a viewer token secret of more than 32 characters',
    EVENT_LOG: `sqlite:${folder.file('events.db')}`,
    RECONCILE_MINUTES: '0',
    ...more,
  });
  return {
    ...gateway,
    trace: folder.file('trace.txt'),
    post: async (id: string): Promise<number> => {
      const body = JSON.stringify({ event_type: 'chaos.note', team_id: teamId, data: { id } });
      const headers = signedHeaders(body, { id, secret: webhookSecret });
      return (await fetch(`${gateway.url}/webhooks`, { method: 'POST', headers, body })).status;
    },
    [Symbol.asyncDispose]: async () => {
      await gateway.end('SIGKILL');
      folder[Symbol.dispose]();
    },
  };
}

describe.runIf(canTrace)('seen from the kernel', () => {
  test('between a webhook and its 2xx the log is synced to disk, each time', async () => {
    await using gateway = await startGateway();
    {
      await using trace = await watchSyncs(gateway.pid, gateway.trace);
      for (let number = 0; number < 20; number += 1) expect(await gateway.post(`msg-${number}`)).toBe(202);
      await expect.poll(() => trace.lines().filter(isAnswer).length).toBe(20);
      const steps = trace.lines().filter((line) => isAnswer(line) || isSync(line));
      const kinds = steps.map((line) => (isAnswer(line) ? 'answered' : 'synced'));
      const answered = kinds.flatMap((kind, index) => (kind === 'answered' ? [index] : []));
      expect(answered.map((index) => kinds[index - 1])).toEqual(Array(20).fill('synced'));
    }
  });

  test('what a first start makes is synced to disk before it listens: a loss of power leaves no empty file', async () => {
    using folder = makeFolder();
    const lines = await watchFirstStart(folder.path, folder.file('trace.txt'));
    const synced = lines.flatMap(
      (line) =>
        /\/data\/([\w.-]+?)(?:\.new|\.\d+\.tmp|\.[0-9a-f]{8}-[-0-9a-f]+)?>\) += 0/.exec(line)?.[1] ?? [],
    );
    expect(synced).toEqual(expect.arrayContaining(['events.db', 'events.db.cursor-key', 'secrets.json']));
  });

  test('a change of the embedded sandbox is synced to disk before its file is replaced', async () => {
    using folder = makeFolder();
    const gateway = await startGatewayProcess(folder.path, { PORT: '0' });
    await using _ = { [Symbol.asyncDispose]: async () => void (await gateway.end('SIGKILL')) };
    const key = /^ +Key +(\S+)$/m.exec(gateway.output.join('\n'))?.[1] ?? '';
    const ask = async (query: string) => (await fetch(graphqlRequest(gateway.url, { query }, key))).json();
    const { data } = await ask(
      '{ users(first: 5) { nodes { orders(first: 9) { nodes { id status { isTerminal } } } } } }',
    );
    const orders: { id: string; status: { isTerminal: boolean } }[] = data.users.nodes.flatMap(
      (user: typeof data) => user.orders.nodes,
    );
    const id = orders.find(({ status }) => !status.isTerminal)?.id;
    await using trace = await watchSyncs(gateway.pid, folder.file('trace.txt'));
    await ask(`mutation { simulateOrder(input: { id: "${id}" }) { __typename } }`);
    const synced = () =>
      trace.lines().filter((line) => /f(data)?sync\(\d+<[^>]*sandbox\.json\.\d+\.tmp>/.test(line));
    await expect.poll(() => synced().length).toBeGreaterThan(0);
  });

  test('between a message of RabbitMQ and its acknowledgement the log is synced to disk, each time', async () => {
    using folder = makeFolder();
    await using broker = await openRabbit(folder.path);
    await using gateway = await startGateway(broker.env);
    const isConsuming = async () => (await (await fetch(`${gateway.url}/ready`)).json()).broker;
    await expect.poll(isConsuming).toBe(true);
    await using trace = await watchSyncs(gateway.pid, gateway.trace);
    const acknowledged = () => trace.lines().filter(isAck).length;
    for (let number = 0; number < 20; number += 1) {
      const body = JSON.stringify({ event_type: 'chaos.note', team_id: teamId, data: { number } });
      expect(await broker.publish(body, '')).toBe(true);
      await expect.poll(acknowledged).toBe(number + 1);
    }
    const steps = trace.lines().filter((line) => isAck(line) || isSync(line));
    const before = steps.flatMap((line, index) => (isAck(line) ? [steps[index - 1] ?? ''] : []));
    expect(before.map(isSync)).toEqual(Array(20).fill(true));
  });

  test.each([
    ['a sync fails with EIO', 'fsync,fdatasync', 'EIO'],
    ['a write fails with EIO', 'pwrite64', 'EIO'],
    ['a write finds the disk full', 'pwrite64', 'ENOSPC'],
  ] as const)(
    'while %s nothing is acknowledged, queries go on, and it recovers by itself',
    async (_name, calls, error) => {
      await using gateway = await startGateway();
      expect(await gateway.post('before')).toBe(202);
      {
        await using _ = await injectFault(gateway.pid, calls, error);
        expect(await gateway.post('during')).toBe(503);
        const asked = await fetch(graphqlRequest(gateway.url, { query: '{ viewer { kind } }' }, gatewayKey));
        expect((await asked.json()).data).toEqual({ viewer: { kind: 'TEAM' } });
        expect((await (await fetch(`${gateway.url}/ready`)).json()).eventLog).toBe(false);
      }
      expect(await gateway.post('during')).toBe(202);
      expect(await gateway.post('before')).toBe(200);
      expect(await gateway.post('after')).toBe(202);
    },
  );
});

function isAnswer(line: string): boolean {
  return /"HTTP\/1\.1 202/.test(line);
}

/** A frame of method 60, 80 of AMQP 0-9-1, basic.ack: type 1, the channel, and 13 bytes. */
function isAck(line: string): boolean {
  return /"\\1\\0\\\d+\\0\\0\\0\\r\\0<\\0P/.test(line);
}

function isSync(line: string): boolean {
  return /^\d+ +(fsync|fdatasync)\(\d+<[^>]*events\.db-wal>\) += 0|<\.\.\. f(data)?sync resumed>\) += 0/.test(
    line,
  );
}
