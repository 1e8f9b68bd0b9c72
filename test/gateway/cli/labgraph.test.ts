import { writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { runLabgraph } from '../../support/labgraph-command.ts';
import { startListening } from './listening.ts';

/** Each test starts processes, which take long on a busy machine. */
test('listen tries again until its target has an event, and continues from there after a kill', async () => {
  await using listening = await startListening();
  const { lab, target } = listening;
  expect(target.received[0]?.event).toMatchObject({
    event_type: 'moon.phase.created',
    team_id: lab.sandbox.teamId,
    data: { n: 0 },
  });

  await listening.kill();
  for (let n = 1; n <= 30; n += 1) listening.send(n);
  await lab.sandbox.webhooks.settled();
  listening.start();

  await vi.waitFor(() => expect(listening.numbers()).toHaveLength(30), { timeout: 150_000 });
  expect(listening.numbers().toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 30 }, (_, at) => at + 1),
  );
  // A kill between the target's answer and the stored cursor repeats one event, with the id by which the target knows it.
  expect(new Set(target.received.map(({ id }) => id)).size).toBe(31);
});

test('verify accepts what sign prints, and refuses it for another body; help, completions and mistakes have their exit codes', async () => {
  using folder = makeFolder();
  const file = folder.file('secret');
  writeFileSync(file, `whsec_${Buffer.from('a secret for this test alone').toString('base64')}\n`);
  const sign = async (input: string) => {
    const signed = await runLabgraph({ args: ['sign', '--secret-file', file, '--id', 'msg_1'], input });
    const headers = JSON.parse(signed.out);
    const given = ['--id', 'msg_1', '--timestamp', headers['webhook-timestamp']];
    return ['verify', '--secret-file', file, ...given, '--signature', headers['webhook-signature']];
  };
  const args = await sign('{"a":1}');
  const argsOfText = await sign('hello');

  const [ofText, unsigned] = await Promise.all([
    runLabgraph({ args: argsOfText, input: 'hello' }),
    runLabgraph({ args: args.slice(0, -2), input: '{"a":1}' }),
  ]);
  expect(ofText).toEqual({ code: 0, out: '{"isGenuine":true}\n', said: '' });
  expect(unsigned).toMatchObject({ code: 2, out: '', said: expect.stringContaining('--signature') });

  const [genuine, altered, help, bash, unknown, keyless] = await Promise.all([
    runLabgraph({ args, input: '{"a":1}' }),
    runLabgraph({ args, input: '{"a":2}' }),
    runLabgraph({ args: ['--help'] }),
    runLabgraph({ args: ['completions', 'bash'] }),
    runLabgraph({ args: ['nonsense'] }),
    runLabgraph({ args: ['tail'] }),
  ]);

  expect(genuine).toEqual({ code: 0, out: '{"isGenuine":true}\n', said: '' });
  expect(altered).toEqual({ code: 1, out: '{"isGenuine":false}\n', said: '' });
  expect(help).toMatchObject({ code: 0, out: expect.stringContaining('listen --forward-to <url>') });
  expect(bash).toMatchObject({
    code: 0,
    out: expect.stringContaining('doctor listen tail resend trigger token sign verify completions events'),
  });
  expect(unknown).toMatchObject({ code: 2, out: '' });
  expect(keyless).toMatchObject({ code: 2, said: expect.stringContaining('LABGRAPH_KEY') });
});
