import { request as ask } from 'node:http';
import { expect } from 'vitest';
import { createGateway, type Gateway } from '../../../gateway/gateway.ts';
import { createLog } from '../../../gateway/log.ts';
import { type Folder, makeFolder } from '../../support/folder.ts';
import { gatewayKey } from '../../support/lab.ts';
import { pageOrigin } from '../../support/launch.ts';
import { type SpoiltLab, startSpoiltLab } from '../../support/spoilt-lab.ts';
import { accessesIn, key } from '../audit/support.ts';

/** One of two gateways over one service, with what it has written. */
export interface OneGateway {
  readonly url: string;
  readonly trail: Folder;
  readonly logged: readonly string[];
}

/**
 * A gateway with the direct path and one without it, over one service. Both get the same requests
 * in the same order.
 */
export interface TwoGateways extends AsyncDisposable {
  readonly lab: SpoiltLab;
  readonly direct: OneGateway;
  readonly usual: OneGateway;
}

export async function startTwoGateways(): Promise<TwoGateways> {
  const [trail, otherTrail] = [makeFolder(), makeFolder()];
  const otherLogged: string[] = [];
  let other: Gateway | null = null;
  const lab = await startSpoiltLab({
    env: {
      ALLOWED_ORIGINS: pageOrigin,
      RATE_LIMIT_POINTS: '0',
      // On a busy machine more time passes between two requests than reads are cached for by default.
      READ_CACHE_SECONDS: '300',
      DIRECT_PATH: 'on',
      AUDIT_TRAIL: `file:${trail.path}`,
      AUDIT_TRAIL_KEY: key.toString('base64'),
    },
    make: async (parts) => {
      const { config } = parts;
      if (config.auditTrail === null) throw new Error('The gateway has no audit trail.');
      other = await createGateway({
        ...parts,
        config: {
          ...config,
          directPath: false,
          auditTrail: { ...config.auditTrail, folder: otherTrail.path },
        },
        log: createLog({ level: 'info', destination: { write: (line) => void otherLogged.push(line) } }),
      });
      return await createGateway(parts);
    },
  });
  const usual = await (other as Gateway | null)?.listen();
  return {
    lab,
    direct: { url: lab.url, trail, logged: lab.logged },
    usual: { url: usual?.url ?? '', trail: otherTrail, logged: otherLogged },
    [Symbol.asyncDispose]: async () => {
      await (other as Gateway | null)?.close();
      await lab[Symbol.asyncDispose]();
      trail[Symbol.dispose]();
      otherTrail[Symbol.dispose]();
    },
  };
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  /** On top of those of an ordinary request; each as often as it has values. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Of the connection and not of the answer. */
const ofConnection = [
  'x-request-id',
  'date',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
];

/** Asks by node:http, which sends exactly what it is given: the same header twice, or a body of chunks. */
export function send(url: string, { method = 'POST', path = '/graphql', headers = {}, body = '' }: Sent) {
  const all = { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json', ...headers };
  const isChunked = 'transfer-encoding' in all;
  const length = method === 'POST' && !isChunked ? { 'content-length': `${Buffer.byteLength(body)}` } : {};
  const lines = Object.entries({ ...all, ...length }).map(([name, value]) => [name, [value].flat()] as const);
  return new Promise<Answer>((resolve, reject) => {
    const asked = ask(`${url}${path}`, { method, headers: Object.fromEntries(lines) }, async (answer) => {
      const received = Object.entries(answer.headers).filter(([name]) => !ofConnection.includes(name));
      const text = Buffer.concat(await answer.toArray()).toString();
      resolve({ status: answer.statusCode, headers: Object.fromEntries(received.sort()), text: plain(text) });
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

/** Without what no two answers have in common: how long it took, and what is made up anew for each. */
function plain(text: string): string {
  return text
    .replace(/"ms":\d+/g, '"ms":0')
    .replace(/"requestId":"[^"]+"/g, '"requestId":""')
    .replace(/\/portal\/[\w.-]+/g, '/portal/');
}

/** A viewer token; both gateways have created one. */
export async function mint({ lab, usual }: TwoGateways, input: object): Promise<string> {
  const query = 'mutation ($input: CreateViewerTokenInput!) { createViewerToken(input: $input) { token } }';
  await send(usual.url, { body: JSON.stringify({ query, variables: { input } }) });
  return (await lab.query(query, { variables: { input } })).data.createViewerToken.token;
}

/** Asks both, one after the other. */
export async function expectSame({ direct, usual }: TwoGateways, sent: Sent): Promise<Answer> {
  const [received, expected] = [await send(direct.url, sent), await send(usual.url, sent)];
  expect(received).toEqual(expected);
  return received;
}

/** What a gateway has counted of its own, but for times. */
export async function readCounts({ url }: OneGateway): Promise<readonly string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return (
    text
      .split('\n')
      .filter((line) => /^(labgraph|un)/.test(line) && !/_seconds|_writable|audit_records/.test(line))
      // Only the direct path caches whole answers, and a cached answer looks up no reads.
      .filter((line) => !/^labgraph_(whole_answers|read_cache)/.test(line))
      .toSorted()
  );
}

/** Every access in the trail up to one by this user, who must have made one last. */
export async function readAccesses({ trail }: OneGateway, last: string) {
  const find = () => accessesIn(trail.path).findIndex(({ user }) => user === last);
  await expect.poll(find, { interval: 10 }).toBeGreaterThan(-1);
  return accessesIn(trail.path);
}
