import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scopes } from '../../gateway/upstream/service.ts';
import { makeFolder } from '../support/folder.ts';
import { gatewayKey, serviceKey, webhookSecret } from '../support/lab.ts';
import { type MisbehavingService, startMisbehavingService, text } from '../support/misbehaving-service.ts';
import { startSpoiltLab } from '../support/spoilt-lab.ts';
import { type Heard, listenTo } from './canary/heard.ts';
import { Planted } from './canary/plant.ts';
import {
  askAsAnother,
  followStreams,
  makeMutations,
  readEverything,
  receiveWebhooks,
  sendNonsense,
  useTickets,
  waitInVain,
} from './canary/run.ts';
import { canaries } from './mutations/row.ts';

const folder = makeFolder();
const logKey = randomBytes(32).toString('base64');
const auditKey = randomBytes(32).toString('base64');
const viewerSecret = randomBytes(32).toString('hex');
const planted = new Planted();
const secrets: string[] = [serviceKey, webhookSecret, gatewayKey, logKey, auditKey, viewerSecret];

let elsewhere: MisbehavingService;
let heard: readonly Heard[];
/** What the people of the service's own world are called, and where they live. */
let people: readonly string[];
/** Of the other caller, who may well see them. */
let own: readonly string[];
let ids: readonly string[];
let others: readonly string[];
/** Where nobody's values may stand, by what it is. */
const written = new Map<string, string>();

function filesIn(path: string): string {
  return readdirSync(path)
    .map((file) => readFileSync(`${path}/${file}`, 'latin1'))
    .join('\n');
}

beforeAll(async () => {
  elsewhere = await startMisbehavingService(text('nobody'));
  const spoilt = await startSpoiltLab({
    env: {
      EVENT_LOG: `sqlite:${folder.file('log')}/events.db`,
      EVENT_LOG_KEY: logKey,
      AUDIT_TRAIL: `file:${folder.file('audit')}`,
      AUDIT_TRAIL_KEY: auditKey,
      VIEWER_TOKEN_SECRET: viewerSecret,
      RATE_LIMIT_POINTS: '0',
    },
  });
  const listening = listenTo(spoilt);
  ({ heard } = listening);
  const { lab } = listening;
  const known = lab.sandbox.users().filter(({ hasDemographics }) => hasDemographics);
  const user = known[1]?.userId ?? '';
  const orderId = lab.sandbox.orders().find(({ status }) => status.endsWith('.completed'))?.orderId ?? '';
  const stage = { lab, planted, elsewhere: elsewhere.url, secrets, userId: user, orderId };
  const infos = await Promise.all(known.map(({ userId }) => lab.peek(`/v2/user/${userId}/info/latest`)));
  people = infos.flatMap((info) => personalIn(info as Info));
  own = people.slice(-4);
  ids = lab.sandbox.users().map(({ userId }) => userId);

  const waited = waitInVain(stage);
  const another = known.at(-1)?.userId ?? '';
  const tokens = [await lab.tokenFor(another, { scopes }), await lab.tokenFor(another)];
  secrets.push(...tokens);
  expect(await receiveWebhooks(stage)).toEqual([202, 202, 202, 202, 202, 200, 401, 401, 401]);
  await useTickets(stage);
  await followStreams(stage);
  await readEverything(stage);
  const made = await makeMutations(stage);
  expect(made.filter((word) => /Unsettled|UPSTREAM/.test(word))).toEqual([]);
  await sendNonsense(stage);
  others = (await Promise.all(tokens.map((token) => askAsAnother(stage, token)))).flat();
  await waited;
  await lab.sandbox.webhooks.settled();
  written.set('metrics', await (await spoilt.gateway.fetch(new Request(`${lab.url}/metrics`))).text());
  await lab.gateway.close();
  written.set('log', lab.logged.join(''));
  written.set('audit trail', filesIn(folder.file('audit')));
  written.set('event log', filesIn(folder.file('log')));
  await lab[Symbol.asyncDispose]();
}, 60_000);

afterAll(async () => {
  await elsewhere[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

interface Info {
  readonly [name: string]: unknown;
  readonly address?: { readonly first_line?: string };
}

function personalIn({ first_name, last_name, email, phone_number, address }: Info): readonly string[] {
  return [`${first_name} ${last_name}`, email, phone_number, address?.first_line].map(String);
}

/** What of all that was planted stands in a text, whatever its case. */
function findIn(where: string, more: readonly string[] = []): readonly string[] {
  const told = where.toLowerCase();
  const texts = [...canaries, ...planted.texts, ...people, ...more];
  return texts.filter((each) => told.includes(each.toLowerCase()));
}

test('more than 40 values of people are planted, and much is said', () => {
  expect(planted.texts.length).toBeGreaterThan(400);
  expect(people.length).toBeGreaterThan(40);
  expect(heard.length).toBeGreaterThan(400);
  expect([...written].filter(([, content]) => content.length < 1000)).toEqual([]);
});

test.each(['log', 'metrics', 'audit trail', 'event log'])(
  'the %s has no value, key, token or link',
  (name) => {
    const content = written.get(name) ?? '';
    expect(findIn(content, secrets)).toEqual([]);
  },
);

test.each(['log', 'metrics', 'audit trail'])('the %s has no id of a user', (name) => {
  expect(ids.filter((id) => written.get(name)?.includes(id))).toEqual([]);
});

test('no error, no refusal and no header says a value, and no answer a key of the gateway', () => {
  expect(findIn(heard.map(({ beside }) => beside).join('\n'))).toEqual([]);
  const all = heard.map(({ whole, beside }) => `${whole}${beside}`).join('\n');
  expect(secrets.slice(0, 6).filter((secret) => all.includes(secret))).toEqual([]);
  expect(heard.map(({ status }) => status)).not.toContain(500);
});

test('another caller is told nothing of it, whatever they ask for and over whatever transport', () => {
  expect(others.length).toBeGreaterThan(20);
  expect(findIn(others.join('\n')).filter((each) => !own.includes(each))).toEqual([]);
});

test('what the service redirects to hears nothing', () => {
  expect(elsewhere.calls()).toEqual([]);
});
