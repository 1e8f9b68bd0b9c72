import type { Program } from '../gateway/commands/program.ts';
import { createCompletions } from './completions.ts';
import { doctor } from './doctor/doctor.ts';
import { listen, tail } from './listen.ts';
import { resend } from './resend.ts';
import { sign, verify } from './signatures.ts';
import { token } from './token.ts';
import { trigger } from './trigger.ts';

const completions = createCompletions(() => [...Object.keys(program.commands), 'events', 'audit', 'help']);

/** `labgraph <command>`: works on a gateway over the network. */
export const program: Program<null> = {
  call: 'labgraph',
  commands: { doctor, listen, tail, resend, trigger, token, sign, verify, completions },
  about: [
    '  events | audit <command>',
    '      the event log and the audit trail of a gateway on this machine: labgraph events --help',
    '',
    'The gateway is LABGRAPH_URL or --url (http://127.0.0.1:4000), its key LABGRAPH_KEY or --key-file. A key given as --key',
    'is seen by everybody who can list the processes of this machine. Prints one JSON line per finding.',
  ],
  open: async () => null,
  close: async () => {},
};
