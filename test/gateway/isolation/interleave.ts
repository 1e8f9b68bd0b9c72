import fc from 'fast-check';
import { scopes } from '../../../gateway/auth/rights.ts';
import { createGatedService, type Gate } from '../../support/gated-service.ts';
import { graphqlRequest, type Lab, startLab } from '../../support/lab.ts';
import { nodeIdOf } from '../../support/node-id.ts';
import { ordersOf } from './people.ts';
import type { Make } from './writes.ts';

interface Caller {
  readonly token: string;
  /** Ids of those whom this caller may not see. */
  readonly secrets: readonly string[];
  /** What each question is answered when nobody else asks. */
  readonly alone: readonly string[];
}

/** A gateway whose service answers on command, and three callers who ask the same. */
export interface Crowd extends AsyncDisposable {
  readonly lab: Lab;
  readonly callers: readonly [Caller, Caller, Caller];
  readonly questions: readonly string[];
  readonly through: (gate: Gate) => void;
}

export interface GatherOptions {
  readonly make?: Make;
  /** Environment variables of the gateway. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Two users and, of the first, a token for one order. */
export async function gather({ make, ...more }: GatherOptions = {}): Promise<Crowd> {
  const service = createGatedService();
  const env = { EVENT_LOG: 'memory:', ...more.env };
  const lab = await startLab({ env, serve: service.serve, ...(make === undefined ? {} : { make }) });
  const [first, second] = lab.sandbox.users().filter(({ userId }) => ordersOf(lab, userId).length > 1);
  if (!first || !second) throw new Error('The world has too few people with orders.');
  const [one = '', ...rest] = ordersOf(lab, first.userId);
  const others = ordersOf(lab, second.userId);
  const questions = questionsAbout([first.userId, second.userId], [one, rest[0] ?? '', others[0] ?? '']);
  const meet = async (userId: string, secrets: readonly string[], more: object): Promise<Caller> => {
    const token = await lab.tokenFor(userId, { scopes, ...more });
    const alone: string[] = [];
    for (const question of questions) alone.push(await ask(lab, token, question));
    return { token, secrets, alone };
  };
  return {
    lab,
    questions,
    callers: [
      await meet(first.userId, [second.userId, ...others], {}),
      await meet(second.userId, [first.userId, one, ...rest], {}),
      await meet(first.userId, [second.userId, ...others, ...rest], { orderIds: [one] }),
    ],
    through: service.through,
    [Symbol.asyncDispose]: async () => {
      service.through(async () => {});
      await lab[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

/** The same for everybody: lists, single reads that are gathered to one call, and what leads on from them. */
function questionsAbout(users: readonly string[], orders: readonly string[]): readonly string[] {
  const named = (field: string, ids: readonly string[], selection: string) =>
    ids.map((id, place) => `${field}${place}: ${field}(id: "${id}") { ${selection} }`).join(' ');
  const nodeIds = [...users.map((id) => nodeIdOf('User', id)), ...orders.map((id) => nodeIdOf('Order', id))];
  return [
    '{ orders(first: 5) { totalCount nodes { id userId } } users { totalCount nodes { id } } }',
    `{ ${named('order', orders, 'id userId user { id }')} }`,
    `{ ${named('user', users, 'id orders(first: 5) { nodes { id } }')} }`,
    `{ nodes(nodeIds: ${JSON.stringify(nodeIds)}) { nodeId ... on User { id } ... on Order { id userId } } }`,
    `subscription { orderUpdates(orderId: "${orders[0]}") { kind order { id userId } } }`,
    `{ ${named('order', orders.slice(0, 1), 'transaction { orders { id parentId } } user { id clientUserId }')} }`,
  ];
}

async function ask(lab: Lab, token: string, query: string, signal?: AbortSignal): Promise<string> {
  const request = new Request(graphqlRequest(lab.url, { query }, token), signal ? { signal } : {});
  if (!query.startsWith('subscription')) return await (await lab.gateway.fetch(request)).text();
  request.headers.set('accept', 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json');
  return await readFirstPart(await lab.gateway.fetch(request));
}

/** The first result of a stream, which is left after it; or all of an answer that is no stream. */
async function readFirstPart({ body }: Response): Promise<string> {
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('"payload"')) break;
  }
  return text;
}

/** One of the crowd asks; some leave before they are answered. */
interface Turn {
  readonly caller: number;
  readonly question: number;
  readonly leaves: boolean;
}

const callerCount = 3;

/** What happens in one run, but not in which order. */
function turnsOf({ questions }: Crowd): fc.Arbitrary<readonly Turn[]> {
  const turn = fc.record({
    caller: fc.nat(callerCount - 1),
    question: fc.nat(questions.length - 1),
    leaves: fc.nat(5).map((die) => die === 0),
  });
  return fc.array(turn, { minLength: 2, maxLength: 4 });
}

/**
 * Lets the crowd ask in `runs` interleavings: when each begins, is answered by the service, leaves, and when a webhook
 * comes, is drawn anew each time.
 * @returns what went wrong, made as small as it can be; null where nothing did
 */
export async function findCrossing(crowd: Crowd, runs: number): Promise<string | null> {
  const stray = crowd.callers.flatMap((caller) => caller.alone.filter((answer) => shows(caller, answer)));
  if (stray.length > 0) return `Alone already: ${stray[0]}`;
  const hasWebhook = fc.nat(3).map((die) => die === 0);
  const property = fc.asyncProperty(fc.scheduler(), turnsOf(crowd), hasWebhook, async (...drawn) => {
    const faults = await play(crowd, ...drawn);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });
  const details = await fc.check(property, { numRuns: runs, seed: 20_26 });
  return details.failed ? (fc.defaultReportMessage(details) ?? 'It failed without a word.') : null;
}

async function play(
  crowd: Crowd,
  scheduler: fc.Scheduler,
  turns: readonly Turn[],
  hasWebhook: boolean,
): Promise<readonly string[]> {
  crowd.through((call) => scheduler.schedule(Promise.resolve(), call));
  const webhook = hasWebhook
    ? [scheduler.schedule(Promise.resolve(), 'webhook').then(() => sendWebhook(crowd))]
    : [];
  const asked = turns.map((turn) => takeTurn(crowd, scheduler, turn));
  const answers = await scheduler.waitFor(Promise.all([...asked, ...webhook]));
  return answers.flat();
}

/** An event that changes nothing of what is asked, but after which nothing may be answered from the cache. */
async function sendWebhook({ lab: { sandbox } }: Crowd): Promise<readonly string[]> {
  const userId = sandbox.users()[0]?.userId ?? '';
  sandbox.webhooks.send('daily.data.steps.created', { data: [] }, { userId });
  await sandbox.webhooks.settled();
  return [];
}

async function takeTurn(crowd: Crowd, scheduler: fc.Scheduler, turn: Turn): Promise<readonly string[]> {
  const caller = crowd.callers[turn.caller];
  const question = crowd.questions[turn.question];
  if (caller === undefined || question === undefined) throw new Error('The crowd has no such turn.');
  await scheduler.schedule(Promise.resolve(), 'asks');
  const leaving = new AbortController();
  const answer = ask(crowd.lab, caller.token, question, leaving.signal);
  if (turn.leaves) {
    void scheduler.schedule(Promise.resolve(), 'leaves').then(() => leaving.abort());
    const result = await answer.catch(() => '');
    return shows(caller, result) ? [`Who left was given ${result}`] : [];
  }
  const result = await answer;
  return result === caller.alone[turn.question] && !shows(caller, result)
    ? []
    : [`${question} was answered ${result}`];
}

const shows = ({ secrets }: Caller, answer: string) => secrets.some((secret) => answer.includes(secret));

/** How many reads are answered by another's when each of the three asks every question once, all at the same time. */
async function countSharedByThree(crowd: Crowd): Promise<number> {
  const before = await countShared(crowd);
  for (const question of crowd.questions) {
    await Promise.all(crowd.callers.map(({ token }) => ask(crowd.lab, token, question)));
  }
  return (await countShared(crowd)) - before;
}

/** How many reads were answered by an equal one so far. */
export async function countShared({ lab }: Crowd): Promise<number> {
  const metrics = await (await lab.gateway.fetch(new Request(`${lab.url}/metrics`))).text();
  const counts = metrics.matchAll(/^labgraph_upstream_shared_total\{.*\} (\d+)$/gm);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** What is wrong with a gateway in which nothing of one caller may come to another; null where nothing is. */
export type Find = (crowd: Crowd) => Promise<string | null>;

export const findAnswers: Find = (crowd) => findCrossing(crowd, 1000);
export const findReads: Find = async (crowd) => {
  const count = await countSharedByThree(crowd);
  return count === 0 ? null : `${count} reads of one caller answered another`;
};
