import { expect, test } from 'vitest';
import { openEventStore } from '../../../gateway/events/open.ts';
import { createLog } from '../../../gateway/log.ts';
import { makeFolder } from '../../support/folder.ts';
import { startLab, webhookSecret } from '../../support/lab.ts';
import { orderEvent, signedHeaders } from './support.ts';

test("while the service is away, another team's event is recognized by the team that an earlier run learned", async () => {
  using folder = makeFolder();
  const path = folder.file('events.db');
  const open = () =>
    openEventStore({ kind: 'sqlite', path }, { keys: [], log: createLog({ level: 'silent' }) });
  const earlier = await open();
  await earlier.log.writeMark('team', '6353bcab-3526-4838-8c92-063fa760fb6b');
  await earlier.log.close();
  {
    await using lab = await startLab({
      env: { EVENT_LOG: `sqlite:${path}` },
      serve: async () => 'http://127.0.0.1:9',
    });
    const body = orderEvent({ team_id: lab.sandbox.teamId });
    const headers = signedHeaders(body, { id: 'a', secret: webhookSecret });
    const { status } = await fetch(`${lab.url}/webhooks`, { method: 'POST', headers, body });
    expect(status).toBe(202);
  }

  const { log } = await open();
  expect(await log.deadLetters(0, 10)).toMatchObject([{ messageId: 'a', deadReason: 'other-team' }]);
  await log.close();
});
