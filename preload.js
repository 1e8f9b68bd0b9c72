// What every start does first. JavaScript of an old kind, because it must also run on the Node that is too old for the rest.
import * as modules from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const least = 26;

if (Number.parseInt(process.versions.node, 10) < least) {
  process.stderr.write(
    `Labgraph needs Node ${least} or later, and this is Node ${process.versions.node}. "npm ci" installs the right one where it has a package for this machine (docs/dependencies.md); elsewhere install Node ${least}.\n`,
  );
  process.exit(1);
}

// Caches compiled code, with types stripped, for the next start, because webhooks wait for it. The first module of a start is
// in the cache only if this file was preloaded. If the folder cannot be written, every start compiles everything.
modules.enableCompileCache(fileURLToPath(new URL('.cache/compiled', import.meta.url)));
