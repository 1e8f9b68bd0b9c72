import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { scopes } from '../../../gateway/auth/rights.ts';
import { makeFolder } from '../../support/folder.ts';
import { gatewayKey, serviceKey, webhookSecret } from '../../support/lab.ts';
import { startSpoiltLab } from '../../support/spoilt-lab.ts';
import { canaries } from '../mutations/row.ts';
import { Planted } from './plant.ts';
import { type RecordedAnswer, recordAnswers } from './recorded-answers.ts';
import {
  askAsAnother,
  followStreams,
  makeMutations,
  readEverything,
  receiveWebhooks,
  sendNonsense,
  useTickets,
  waitInVain,
} from './run.ts';

/** Where a gateway stores its events, and how to read the whole store once it has been closed. */
export interface Storage {
  readonly eventLog: string;
  readonly folder: string;
}

/** A gateway that has been through everything, and what came out of it. */
export interface Performed {
  /** The planted values that a text contains, in any case. */
  readonly findIn: (text: string) => readonly string[];
  /** How much there is to be found: texts that were planted, and what the service's own people are called. */
  readonly planted: { readonly texts: number; readonly people: number };
  readonly answers: readonly RecordedAnswer[];
  /** The answers to another caller, without the caller's own values. */
  readonly answersToOthers: readonly string[];
  readonly own: readonly string[];
  /** Keys of the gateway, first, then tokens, tickets and links that came up. */
  readonly secrets: readonly string[];
  readonly userIds: readonly string[];
  /** The outputs that may contain nobody's values, by name. */
  readonly written: ReadonlyMap<string, string>;
}

/** @param elsewhere the address of a server that must receive nothing */
export async function perform({ eventLog, folder }: Storage, elsewhere: string): Promise<Performed> {
  using audit = makeFolder();
  const planted = new Planted();
  const { env, secrets } = makeConfiguration(eventLog, audit.path);
  const spoilt = await startSpoiltLab({ env });
  const { answers, lab } = recordAnswers(spoilt);
  const known = lab.sandbox.users().filter(({ hasDemographics }) => hasDemographics);
  const userId = known[1]?.userId ?? '';
  const orderId = lab.sandbox.orders().find(({ status }) => status.endsWith('.completed'))?.orderId ?? '';
  const stage = { lab, planted, elsewhere, secrets, userId, orderId };
  const infos = await Promise.all(known.map((user) => lab.peek(`/v2/user/${user.userId}/info/latest`)));
  const people = infos.flatMap((info) => personalIn(info as Info));

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
  const answersToOthers = (await Promise.all(tokens.map((token) => askAsAnother(stage, token)))).flat();
  await waited;
  await lab.sandbox.webhooks.settled();
  const metrics = await (await spoilt.gateway.fetch(new Request(`${lab.url}/metrics`))).text();
  await lab.gateway.close();
  const written = new Map([
    ['metrics', metrics],
    ['log', lab.logged.join('')],
    ['audit trail', filesIn(audit.path)],
    ['event log', filesIn(folder)],
  ]);
  const userIds = lab.sandbox.users().map((user) => user.userId);
  await lab[Symbol.asyncDispose]();
  const texts = [...canaries, ...planted.texts, ...people].map((text) => text.toLowerCase());
  return {
    findIn: (text) => findAll(texts, text.toLowerCase()),
    planted: { texts: planted.texts.length, people: people.length },
    ...{ answers, answersToOthers, secrets, userIds, written },
    own: people.slice(-4).map((text) => text.toLowerCase()),
  };
}

/** Every secret value that the gateway receives. */
function makeConfiguration(eventLog: string, auditFolder: string) {
  const [logKey, auditKey] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const viewerSecret = randomBytes(32).toString('hex');
  return {
    env: {
      EVENT_LOG: eventLog,
      EVENT_LOG_KEY: logKey,
      AUDIT_TRAIL: `file:${auditFolder}`,
      AUDIT_TRAIL_KEY: auditKey,
      VIEWER_TOKEN_SECRET: viewerSecret,
      RATE_LIMIT_POINTS: '0',
    },
    secrets: [serviceKey, webhookSecret, gatewayKey, logKey, auditKey, viewerSecret],
  };
}

function filesIn(path: string): string {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'latin1'))
    .join('\n');
}

function findAll(texts: readonly string[], text: string): readonly string[] {
  return texts.filter((each) => text.includes(each));
}

interface Info {
  readonly [name: string]: unknown;
  readonly address?: { readonly first_line?: string };
}

function personalIn({ first_name, last_name, email, phone_number, address }: Info): readonly string[] {
  return [`${first_name} ${last_name}`, email, phone_number, address?.first_line].map(String);
}
