import { createServer, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { EventLog } from '../../../gateway/events/log.ts';
import { sendTestEvent } from '../../../gateway/webhooks/test-event.ts';
import { listenAnywhere } from '../../support/listening.ts';
import { replaceMembers } from '../../support/members.ts';
import { newMessage } from '../../support/messages.ts';
import { endRedis, stores } from '../events/stores.ts';

afterAll(endRedis);

/** An address that answers 200, and then does something with the headers that it was sent. */
async function answerAt(then: (headers: IncomingHttpHeaders) => Promise<unknown>) {
  let done: Promise<unknown> = Promise.resolve();
  const server = createServer(({ headers }, response) => {
    response.end(() => {
      done = then(headers);
    });
  });
  const url = await listenAnywhere(server);
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      await done;
      server.close();
    },
  };
}

/** The log, which fails after this many reads. */
function limitReads(log: EventLog, count: number): EventLog {
  let left = count;
  const read: EventLog['read'] = (...args) => {
    left -= 1;
    return left < 0 ? Promise.reject(new Error(`More than ${count} reads.`)) : log.read(...args);
  };
  return replaceMembers(log, { read });
}

test.each(stores)(
  '$name: other events do not keep the gateway busy while a test event is awaited',
  async ({ open }) => {
    await using store = await open();
    const { log } = store;
    await log.append(newMessage('before'));
    await using address = await answerAt(async (headers) => {
      await log.append(newMessage('other', { type: 'moon.phase.created' }));
      await wait(300);
      const messageId = String(headers['svix-id']);
      await log.append(newMessage(messageId, { type: 'labgraph.webhook.test', userId: null }));
    });
    const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;
    const sent = { events: limitReads(log, 10), url: address.url, secret, teamId: 'team-1' };
    expect(await sendTestEvent(sent)).toBe('ARRIVED');
  },
);
