import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'vite';
import { contract } from './contract.ts';
import { toCustomElements, toVsCodeData, toWebTypes } from './manifests.ts';
import { buildModules } from './modules.ts';

/** Builds everything that is published: the module and languages for pages, the modules for bundlers, the manifests. */
const widget = new URL('..', import.meta.url);
const dist = new URL('dist/', widget);

process.chdir(widget.pathname);
await build({ logLevel: 'warn' });
await buildModules();
copyFileSync(new URL('src/placeholder.css', widget), new URL('placeholder.css', dist));
writeJson('custom-elements.json', toCustomElements(contract));
writeJson(
  'web-types.json',
  toWebTypes(contract, JSON.parse(readFileSync(new URL('package.json', widget), 'utf8'))),
);
writeJson('vscode.html-custom-data.json', toVsCodeData(contract));
writeJson('sri.json', hashFiles());

function writeJson(file: string, value: object): void {
  writeFileSync(new URL(file, dist), `${JSON.stringify(value, null, 2)}\n`);
}

/** What a page writes into `integrity`, for every file that a page loads by its address. */
function hashFiles(): Readonly<Record<string, string>> {
  const files = readdirSync(dist).filter((file) => /\.(js|css)$/.test(file));
  const hash = (file: string) =>
    createHash('sha384')
      .update(readFileSync(new URL(file, dist)))
      .digest('base64');
  return Object.fromEntries(files.toSorted().map((file) => [file, `sha384-${hash(file)}`]));
}
