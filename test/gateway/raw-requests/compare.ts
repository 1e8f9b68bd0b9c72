import process from 'node:process';
import fc from 'fast-check';
import { gatewayKey } from '../../support/lab.ts';
import { pageOrigin } from '../../support/launch.ts';
import { compareForm, sendRaw } from '../../support/raw-http.ts';
import { mint, type TwoGateways } from '../direct-path/two-gateways.ts';
import { arbitraryRequest } from './arbitrary-request.ts';

/** Another seed makes other requests: RAW_REQUESTS_SEED=7 npx vitest run raw-requests. */
const seed = Number(process.env.RAW_REQUESTS_SEED ?? 20261303);
const atOnce = 8;

interface Difference {
  readonly number: number;
  readonly sent: string;
  readonly answer: string;
  readonly expected: string;
}

interface Compared {
  readonly differences: readonly Difference[];
  /** How many answers began with each status. */
  readonly statuses: ReadonlyMap<string, number>;
}

/** Sends each request to both, a few at a time; ends after some differences. */
export async function compare(
  requests: readonly Buffer[],
  urls: readonly [string, string],
): Promise<Compared> {
  const differences: Difference[] = [];
  const statuses = new Map<string, number>();
  const left = requests.entries();
  const work = async () => {
    for (const [number, request] of left) {
      if (differences.length >= 5) return;
      const [answer = '', expected = ''] = await Promise.all(
        urls.map(async (url) => compareForm(await sendRaw(url, request))),
      );
      const status = expected.slice(9, 12);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (answer !== expected) {
        differences.push({ number, sent: request.toString('latin1'), answer, expected });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { differences, statuses };
}

/** So many requests about an order of the lab; fewer are the first of more. */
export async function generate(gateways: TwoGateways, count: number): Promise<readonly Buffer[]> {
  const [order] = gateways.lab.sandbox.orders();
  const about = {
    host: new URL(gateways.direct.url).host,
    gatewayKey,
    viewerToken: await mint(gateways, { userId: order?.userId }),
    origin: pageOrigin,
    orderId: order?.orderId ?? '',
  };
  return fc.sample(arbitraryRequest(about), { seed, numRuns: count });
}
