import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A Lua script. The server runs it atomically. */
export interface Script {
  readonly text: string;
  /** By which the server knows it. */
  readonly hash: string;
}

const common = readFileSync(new URL('./scripts/common.lua', import.meta.url), 'utf8');
const read: Script[] = [];

/** Every script that was read: a connection loads them before its first command. */
export const scripts: readonly Script[] = read;

/** The script of this name in `scripts/`, after `common.lua`. Read while modules are loaded, before any connection. */
export function readScript(name: string): Script {
  const text = `${common}\n${readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8')}`;
  const script = { text, hash: createHash('sha1').update(text).digest('hex') };
  read.push(script);
  return script;
}
