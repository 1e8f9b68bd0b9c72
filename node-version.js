// JavaScript of an old kind, because it must also run on the Node that is too old for the rest. The npm scripts preload it.
import process from 'node:process';

const least = 26;

if (Number.parseInt(process.versions.node, 10) < least) {
  process.stderr.write(
    `Labgraph needs Node ${least} or later, and this is Node ${process.versions.node}. "npm ci" installs the right one where it has a package for this machine (docs/dependencies.md); elsewhere install Node ${least}.\n`,
  );
  process.exit(1);
}
