import { spawnSync } from 'node:child_process';
import process from 'node:process';

/**
 * Has npm compare every installed package with its registry's signature. One that is wrong or missing ends with 1. Where
 * the keys cannot be asked for (a build without the internet) nothing was compared, and that is said: the hashes of the
 * lockfile, which `npm ci` has just compared, are then what there is.
 */
const { status, stdout, stderr } = spawnSync(
  'npm',
  ['audit', 'signatures', '--fetch-retries=0', '--loglevel=error'],
  {
    encoding: 'utf8',
  },
);
const unreachable = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|E405)\b/.exec(
  stderr,
);

if (status === 0) {
  process.stdout.write(stdout);
} else if (unreachable !== null) {
  process.stdout.write(
    `Signatures were NOT compared: the keys of the registry cannot be reached (${unreachable[0]}).\n`,
  );
} else {
  process.stderr.write(`${stdout}${stderr}`);
  process.exitCode = 1;
}
