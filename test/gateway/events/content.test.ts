import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from '../../../gateway/events/sqlite/store.ts';
import { makeFolder } from '../../support/folder.ts';
import { newMessage } from '../../support/messages.ts';
import { endRedis, stores } from './stores.ts';

afterAll(endRedis);

const content = (digest: string, hasMessageId: boolean) => ({ content: { digest, hasMessageId } });
const broker = (id: string, digest = 'aa') => newMessage(`broker-${id}`, content(digest, false));
const made = (id: string, digest?: string) => ({ ...broker(id, digest), isNewId: true });
const webhook = (id: string, digest = 'aa') => newMessage(`webhook-${id}`, content(digest, true));
const later = { receivedAt: new Date('2026-03-04T12:00:00Z') };

describe.each(stores)('the event log in $name knows the copies of an event by its content', ({ open }) => {
  test.each([
    ['a broker repeats it', [broker('1'), broker('2'), broker('other', 'bb')], ['broker-1', 'broker-other']],
    ['the webhook comes first', [webhook('1'), broker('1'), broker('2'), webhook('1')], ['webhook-1']],
    ['the broker comes first', [broker('1'), webhook('1'), broker('2'), webhook('1')], ['broker-1']],
    [
      'webhooks differ only by their ids',
      [webhook('1'), webhook('2'), broker('1')],
      ['webhook-1', 'webhook-2'],
    ],
    [
      'a second event with the same content came over both routes',
      [broker('1'), broker('2'), webhook('1'), webhook('2'), webhook('2')],
      ['broker-1', 'webhook-2'],
    ],
    ['it comes again days later', [broker('1'), { ...broker('2'), ...later }], ['broker-1', 'broker-2']],
    [
      'the ids were made here, and only the content can come again',
      [made('1'), made('2'), webhook('1'), made('3'), made('other', 'bb')],
      ['broker-1', 'broker-other'],
    ],
    ['there is no content to compare', [newMessage('a'), newMessage('b')], ['a', 'b']],
  ])('when %s', async (_, messages, stored) => {
    await using store = await open();
    const appended = await Promise.all(messages.map((message) => store.log.append(message)));
    const batch = await store.log.read({}, 0, 100);
    expect(batch.kind === 'events' && batch.events.map(({ messageId }) => messageId)).toEqual(stored);
    expect(appended.filter(({ duplicate }) => !duplicate)).toHaveLength(stored.length);
    expect(appended.some(({ altered }) => altered)).toBe(false);
  });
});

test('a copy is known after the key of the log was rotated, and the content is stored only as a keyed hash', async () => {
  using folder = makeFolder();
  const [older, newer] = [randomBytes(32), randomBytes(32)];
  const open = (keys: readonly Buffer[]) =>
    openSqliteStore(folder.file('events.db'), { keys, access: 'exclusive' });
  const digest = 'c'.repeat(64);

  const before = await open([older]);
  await before.log.append(broker('1', digest));
  await before.log.close();
  expect(readFileSync(folder.file('events.db')).includes(digest)).toBe(false);

  const after = await open([newer, older]);
  expect(await after.log.append(webhook('1', digest))).toMatchObject({ duplicate: true });
  await after.log.close();
});
