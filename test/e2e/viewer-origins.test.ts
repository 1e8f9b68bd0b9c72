import { expect, test } from 'vitest';
import { gatewayKey, startLab } from '../support/lab.ts';
import { connectToHeadlessShell } from './support/visit.ts';

test('a token limited to an origin works from a page of it that the gateway itself serves, by GET and by POST', async () => {
  await using lab = await startLab();
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  const tokens = {
    own: await lab.tokenFor(userId, { origins: [lab.url] }),
    other: await lab.tokenFor(userId, { origins: ['https://app.example'] }),
    team: gatewayKey,
  };
  await using browser = await connectToHeadlessShell();
  const page = await browser.newPage();
  await page.goto(`${lab.url}/health`);

  const statuses = await page.evaluate(async (bearers) => {
    const ask = async (token: string, method: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ query: '{ viewer { kind } }' });
      const init = method === 'GET' ? { headers } : { method, headers, body };
      return (await fetch(`/graphql?query=${encodeURIComponent('{ viewer { kind } }')}`, init)).status;
    };
    const { own, other, team } = bearers;
    return {
      own: [await ask(own, 'GET'), await ask(own, 'POST')],
      other: [await ask(other, 'GET'), await ask(other, 'POST')],
      team: [await ask(team, 'GET'), await ask(team, 'POST')],
    };
  }, tokens);

  expect(statuses).toEqual({ own: [200, 200], other: [401, 401], team: [200, 200] });
});
