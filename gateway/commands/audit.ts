import { type AuditKey, createAuditKey } from '../audit/keys.ts';
import type { Config } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import { exportLines } from './audit-export.ts';
import { verifyTrail } from './audit-verify.ts';
import { runProgram } from './program.ts';

/** The audit trail as a command reads it. */
export interface KeptTrail {
  readonly folder: string;
  readonly keys: readonly AuditKey[];
}

/** `npm run audit -- <command>`: reads the audit trail, beside a running gateway or without one. */
await runProgram<KeptTrail>({
  call: 'npm run audit',
  commands: { verify: verifyTrail, export: exportLines },
  about: [
    'Reads the trail in the folder that AUDIT_TRAIL names, with the keys of AUDIT_TRAIL_KEY, also while the gateway',
    'runs. Exit code 0 when all is well, else 1.',
  ],
  open,
  close: async () => {},
});

async function open({ auditTrail }: Config): Promise<KeptTrail> {
  if (auditTrail === null) {
    throw new GatewayError(
      'CONFIG_INVALID',
      'AUDIT_TRAIL is off: name the folder of the trail, file:<folder>.',
    );
  }
  return { folder: auditTrail.folder, keys: auditTrail.keys.map(createAuditKey) };
}
