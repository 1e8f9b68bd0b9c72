// Every start loads this file first. It is JavaScript for old versions of Node, so that one that is too old gets a sentence.
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

// The next start finds compiled code, with types stripped, in this cache: webhooks wait for a start. The first module is in it
// only if this file was preloaded. Where the folder cannot be written, every start compiles everything.
modules.enableCompileCache(fileURLToPath(new URL('.cache/compiled', import.meta.url)));
