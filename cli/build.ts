import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Builds the published form of the command line: each file as JavaScript, in the same folders under `dist`. Node strips no types
 * below `node_modules`. Files stay apart, because some are found by their address: the writer's thread, the scripts for Redis.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist');

rmSync(out, { recursive: true, force: true });
for (const file of globSync(['preload.js', '{cli,gateway,client/src}/**/*.{ts,js,lua}'], {
  cwd: root,
})) {
  const place = join(out, file.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(place), { recursive: true });
  if (file.endsWith('.lua')) copyFileSync(join(root, file), place);
  else writeFileSync(place, toJavaScript(file, readFileSync(join(root, file), 'utf8')));
}
chmodSync(join(out, 'cli/labgraph.js'), 0o755);

/** Without types, and with addresses of files as they are named here. */
function toJavaScript(file: string, text: string): string {
  const code = file.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  return code.replace(/(['"])(\.{1,2}\/[^'"\n]+)\.ts\1/g, '$1$2.js$1');
}
