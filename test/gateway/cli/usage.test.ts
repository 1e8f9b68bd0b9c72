import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { program } from '../../../cli/program.ts';
import { program as audit } from '../../../gateway/commands/audit.ts';
import { program as events } from '../../../gateway/commands/events.ts';
import { callAudit, callCommand, callLabgraph } from '../../support/commands.ts';
import { makeFolder } from '../../support/folder.ts';
import { runLabgraph } from '../../support/labgraph-command.ts';

const programs = [
  { call: callLabgraph, name: 'labgraph', commands: program.commands },
  { call: callCommand, name: 'npm run events --', commands: events.commands },
  { call: callAudit, name: 'npm run audit --', commands: audit.commands },
];

test.each(programs)('each command of `$name` has a help with examples', async ({ call, name, commands }) => {
  for (const command of Object.keys(commands)) {
    const [help, sameHelp] = [await call({}, 'help', command), await call({}, command, '--help')];
    expect(help).toMatchObject({ code: 0, said: '' });
    expect(help.text).toContain(`Examples:\n  ${name} ${command}`);
    expect(sameHelp.text).toBe(help.text);
  }
});

test('`help events dead` is the help of a command of the event log', async () => {
  const { code, out } = await runLabgraph({ args: ['help', 'events', 'dead'] });
  expect(code).toBe(0);
  expect(out).toContain('labgraph events dead --body');
});

test.each([
  [],
  ['nonsense'],
  ['help', 'nonsense'],
  ['tail', '--nonsense'],
  ['tail'],
  ['listen', '--forward-to', 'nowhere'],
  ['trigger'],
  ['completions', 'tcsh'],
])('%s %s %s is called wrongly: exit code 2, and nothing on standard output', async (...args) => {
  expect(await callLabgraph({}, ...args)).toMatchObject({ code: 2, text: '' });
});

test.each([
  ['listen', '--forward-to', 'http://127.0.0.1:1'],
  ['resend', 'a-cursor', '--forward-to', 'http://127.0.0.1:1'],
])('%s with a file that contains no secret is a wrong call', async (...args) => {
  using folder = makeFolder();
  writeFileSync(folder.file('secret'), 'not-a-secret!!\n');
  const env = { LABGRAPH_URL: 'http://127.0.0.1:1', LABGRAPH_KEY: 'x' };
  expect(await callLabgraph(env, ...args, '--secret-file', folder.file('secret'))).toMatchObject({
    ...{ code: 2, text: '' },
    said: 'BAD_USER_INPUT: The secret is not whsec_ and base64.\n',
  });
});

test('listen without an address says what is missing, and what shows events here', async () => {
  expect(await callLabgraph({}, 'listen')).toMatchObject({
    ...{ code: 2, text: '' },
    said: 'BAD_USER_INPUT: Where are the events to be posted? Add --forward-to <url>. To see them here, use tail.\n',
  });
});

test('a folder for cursors that cannot be used is named', async () => {
  using folder = makeFolder();
  writeFileSync(folder.file('state'), '');
  const env = { LABGRAPH_URL: 'http://127.0.0.1:1', LABGRAPH_KEY: 'x', XDG_STATE_HOME: folder.file('state') };
  expect(await callLabgraph(env, 'listen', '--forward-to', 'http://127.0.0.1:1')).toMatchObject({
    ...{ code: 2, text: '' },
    said: `BAD_USER_INPUT: ${folder.file('state')}/labgraph cannot be read and written (ENOTDIR). Set XDG_STATE_HOME to a folder of yours with room.\n`,
  });
});

test('with --json sentences and errors are JSON too', async () => {
  const wrong = await callLabgraph({}, 'tail', '--json');
  expect(JSON.parse(wrong.said)).toEqual({ code: 'BAD_USER_INPUT', message: expect.any(String) });

  const env = { LABGRAPH_SANDBOX_URL: 'http://127.0.0.1:1', SANDBOX_API_KEY: 'x' };
  const fault = await callLabgraph(env, 'trigger', 'moon.phase.created', '--json');
  expect(fault).toMatchObject({ code: 1, text: '' });
  expect(JSON.parse(fault.said)).toEqual({ message: expect.stringMatching(/^The sandbox does not answer/) });

  const script = await callLabgraph({}, 'completions', 'bash', '--json');
  expect(script.lines()).toEqual([{ shell: 'bash', script: expect.stringContaining('listen') }]);
});
