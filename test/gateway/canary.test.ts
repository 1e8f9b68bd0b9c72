import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { type MisbehavingService, startMisbehavingService, text } from '../support/misbehaving-service.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { casesFor } from '../support/runs.ts';
import { type RecordedSpans, recordSpans } from '../support/spans.ts';
import { type Performed, perform } from './canary/perform.ts';

const folder = makeFolder();
const stores = casesFor(0, ['sqlite', 'redis'] as const);
const performed = new Map<string, Performed>();
let redis: RedisServer;
let elsewhere: MisbehavingService;
let recorded: RecordedSpans;

// Both at once: most of a run is one wait for a service that never answers.
beforeAll(async () => {
  recorded = recordSpans();
  elsewhere = await startMisbehavingService(text('nobody'));
  redis = await startRedis();
  mkdirSync(folder.file('log'));
  const places = {
    sqlite: { eventLog: `sqlite:${folder.file('log')}/events.db`, folder: folder.file('log') },
    // Its file has each write that there ever was, also of what is gone.
    redis: { eventLog: redis.newUrl(), folder: redis.folder },
  };
  await Promise.all(
    stores.map(async (store) => performed.set(store, await perform(places[store], elsewhere.url))),
  );
});

afterAll(async () => {
  recorded[Symbol.dispose]();
  await redis[Symbol.asyncDispose]();
  await elsewhere[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function runOver(store: string): Performed {
  const run = performed.get(store);
  if (run === undefined) throw new Error(`There was no run over ${store}.`);
  return run;
}

describe.each(stores)('with its events in %s', (store) => {
  test('more than 40 values of people are planted, and much is said', () => {
    const { planted, answers, written } = runOver(store);
    expect(planted.texts).toBeGreaterThan(400);
    expect(planted.people).toBeGreaterThan(40);
    expect(answers.length).toBeGreaterThan(400);
    expect([...written].filter(([, content]) => content.length < 1000)).toEqual([]);
  });

  test.each(['log', 'metrics', 'audit trail', 'event log'])(
    'the %s has no value, key, token or link',
    (name) => {
      const { findIn, secrets, written } = runOver(store);
      const content = written.get(name) ?? '';
      expect(findIn(content)).toEqual([]);
      expect(secrets.filter((secret) => content.includes(secret))).toEqual([]);
    },
  );

  test.each(['log', 'metrics', 'audit trail'])('the %s has no id of a user', (name) => {
    const { userIds, written } = runOver(store);
    expect(userIds.filter((id) => written.get(name)?.includes(id))).toEqual([]);
  });

  test('the spans have no value, key, token, link or id of a user', () => {
    const { findIn, secrets, userIds } = runOver(store);
    const text = recorded.text();
    expect(recorded.spans().length).toBeGreaterThan(1000);
    expect(findIn(text)).toEqual([]);
    expect([...secrets, ...userIds].filter((each) => text.includes(each))).toEqual([]);
  });

  test('no error, no refusal and no header says a value, and no answer a key of the gateway', () => {
    const { findIn, answers, secrets } = runOver(store);
    expect(findIn(answers.map(({ beside }) => beside).join('\n'))).toEqual([]);
    const all = answers.map(({ whole, beside }) => `${whole}${beside}`).join('\n');
    expect(secrets.slice(0, 6).filter((secret) => all.includes(secret))).toEqual([]);
    expect(answers.map(({ status }) => status)).not.toContain(500);
  });

  test('another caller sees nothing of it, in any operation and over any transport', () => {
    const { findIn, own, answersToOthers } = runOver(store);
    expect(answersToOthers.length).toBeGreaterThan(20);
    expect(findIn(answersToOthers.join('\n')).filter((each) => !own.includes(each))).toEqual([]);
  });
});

test('the target of a redirect by the service receives nothing', () => {
  expect(elsewhere.calls()).toEqual([]);
});
