// What `npm start` runs: the built gateway in `dist/`, or the source where a file of it is newer (decision 0133).
import './preload.js';
import { existsSync, readdirSync, statSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
const built = 'dist/gateway/main.js';
const source = 'gateway/main.ts';
/** What the built gateway is made of. A folder is newer, too, when a file is added or removed. */
const folders = ['gateway', 'sandbox', 'widget/dist'];
const files = ['package-lock.json', 'build.ts', 'widget/build/change-libraries.ts'];

/** 0 for a link to nothing, as editors make, and for what is removed meanwhile. */
function modifiedMs(path) {
  return statSync(root + path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function findNewer() {
  const builtMs = modifiedMs(built);
  const present = folders.filter((folder) => existsSync(root + folder));
  const paths = present.flatMap((folder) =>
    readdirSync(root + folder, { recursive: true }).map((name) => `${folder}/${name}`),
  );
  return [...files, ...present, ...paths].find((path) => modifiedMs(path) > builtMs);
}

function choose() {
  if (!existsSync(root + built)) return source;
  const newer = findNewer();
  if (newer === undefined) return built;
  process.stderr.write(
    `${newer} is newer than dist/: the source is started. "npm run build" makes starts faster.\n`,
  );
  return source;
}

await import(`./${choose()}`);
