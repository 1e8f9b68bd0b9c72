import type { Program } from '../gateway/commands/program.ts';
import { listen, tail } from './listen.ts';
import { sign, verify } from './signatures.ts';
import { trigger } from './trigger.ts';

/** `labgraph <command>`: works on a gateway over the network. */
export const program: Program<null> = {
  call: 'labgraph',
  commands: { listen, tail, trigger, sign, verify },
  about: [
    '  events | audit <command>',
    '      the event log and the audit trail of a gateway on this machine: labgraph events --help',
    '  completions bash|zsh|fish',
    '      prints a script for this shell',
    '',
    'The gateway is LABGRAPH_URL or --url (http://127.0.0.1:4000), its key LABGRAPH_KEY or --key-file. A key given as --key',
    'is seen by everybody who can list the processes of this machine. Prints one JSON line per finding.',
    'Exit code 0 when all is well, else 1.',
    '',
    'labgraph listen --forward-to http://localhost:3000/webhooks --events labtest.order.updated --key-file gateway.key',
    'labgraph tail --events labtest.order.updated --body',
    'labgraph trigger labtest.order.updated --set notes=Later --sandbox http://127.0.0.1:4010 --sandbox-key-file sandbox.key',
    'labgraph sign --secret-file webhook.secret < event.json',
    'labgraph verify --secret-file webhook.secret --id msg_1 --timestamp 1795500000 --signature v1,… < event.json',
  ],
  open: async () => null,
  close: async () => {},
};
