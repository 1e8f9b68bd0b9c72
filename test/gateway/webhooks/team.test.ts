import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { openEventStore } from '../../../gateway/events/open.ts';
import { createLog } from '../../../gateway/log.ts';
import { makeFolder } from '../../support/folder.ts';
import { startLab, webhookSecret } from '../../support/lab.ts';
import { listenAnywhere } from '../../support/listening.ts';
import { orderEvent, signedHeaders } from './support.ts';

const otherTeam = '6353bcab-3526-4838-8c92-063fa760fb6b';

interface Restart {
  /** The team that the run before has learned; the service's own where left out. */
  readonly earlier?: string;
  /** Where the service is now; where the sandbox listens, if left out. */
  readonly service?: string;
}

/** Posts a webhook of the service's own team to a gateway that was started again; returns the log's dead letters. */
async function postAfterRestart({ earlier, service }: Restart) {
  using folder = makeFolder();
  const path = folder.file('events.db');
  const open = () =>
    openEventStore({ kind: 'sqlite', path }, { keys: [], log: createLog({ level: 'silent' }) });
  {
    await using lab = await startLab({
      env: { EVENT_LOG: `sqlite:${path}` },
      serve: async ({ teamId }, url) => {
        const { log } = await open();
        await log.writeMark('team', earlier ?? teamId);
        await log.close();
        return service ?? url;
      },
    });
    const body = orderEvent({ team_id: lab.sandbox.teamId });
    const headers = signedHeaders(body, { id: 'a', secret: webhookSecret });
    const { status } = await fetch(`${lab.url}/webhooks`, { method: 'POST', headers, body });
    expect(status).toBe(202);
  }
  const { log } = await open();
  const letters = await log.deadLetters(0, 10);
  await log.close();
  return letters;
}

test("while the service is away, another team's event is recognized by the team that an earlier run learned", async () => {
  const letters = await postAfterRestart({ earlier: otherTeam, service: 'http://127.0.0.1:9' });
  expect(letters).toMatchObject([{ messageId: 'a', deadReason: 'other-team' }]);
});

test('the service is asked before an event is taken for one of another team than that of the earlier run', async () => {
  expect(await postAfterRestart({ earlier: otherTeam })).toEqual([]);
});

test("an event of the earlier run's team does not wait for the service", async () => {
  let calls = 0;
  const silent = createServer(() => {
    calls += 1;
  });
  try {
    expect(await postAfterRestart({ service: await listenAnywhere(silent) })).toEqual([]);
    expect(calls).toBe(0);
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});
