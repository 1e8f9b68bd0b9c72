import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/**
 * Writes what servers of these files need: `sri.json`, and `.br` and `.gz` beside each file.
 * @param version of the package
 */
export function publish(dist: URL, version: string): void {
  const hashes = hashFiles(dist);
  const build = createHash('sha256').update(JSON.stringify(hashes)).digest('hex').slice(0, 8);
  writeFileSync(
    new URL('sri.json', dist),
    `${JSON.stringify({ ...hashes, ...putBehind(`${version}-${build}`, hashes) }, null, 2)}\n`,
  );
  for (const file of list(dist, /\.(js|css|json)$/)) {
    const bytes = readFileSync(new URL(file, dist));
    writeFileSync(new URL(`${file}.br`, dist), brotliCompressSync(bytes));
    writeFileSync(new URL(`${file}.gz`, dist), gzipSync(bytes, { level: 9 }));
  }
}

type Hashes = Readonly<Record<string, string>>;

/** What a page writes into `integrity`, for every file that a page loads by its address. */
function hashFiles(dist: URL): Hashes {
  const hash = (file: string) =>
    createHash('sha384')
      .update(readFileSync(new URL(file, dist)))
      .digest('base64');
  return Object.fromEntries(list(dist, /\.(js|css)$/).map((file) => [file, `sha384-${hash(file)}`]));
}

/** The same files at their addresses that never change: the version names the content of all of them. */
function putBehind(version: string, hashes: Hashes): Hashes {
  return Object.fromEntries(Object.entries(hashes).map(([file, hash]) => [`${version}/${file}`, hash]));
}

function list(dist: URL, names: RegExp): readonly string[] {
  return readdirSync(dist)
    .filter((file) => names.test(file))
    .toSorted();
}
