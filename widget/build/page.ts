import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { contract } from './contract.ts';
import { toCustomElements, toVsCodeData, toWebTypes } from './manifests.ts';
import { publish } from './published-files.ts';

/**
 * Builds what the gateway serves: the module and its languages, and the manifests. It needs no development dependency,
 * because `npm ci` runs it in production, too. The modules for bundlers in `dist/modules/` stay as they are.
 */
const widget = new URL('..', import.meta.url);
const dist = new URL('dist/', widget);
const widgetPackage = JSON.parse(readFileSync(new URL('package.json', widget), 'utf8'));

process.chdir(fileURLToPath(widget));
removeFiles();
await build({ logLevel: 'warn' });
copyFileSync(new URL('src/placeholder.css', widget), new URL('placeholder.css', dist));
writeJson('custom-elements.json', toCustomElements(contract));
writeJson('web-types.json', toWebTypes(contract, widgetPackage));
writeJson('vscode.html-custom-data.json', toVsCodeData(contract));
publish(dist, widgetPackage.version);

/** Vite would empty the whole folder. */
function removeFiles(): void {
  mkdirSync(dist, { recursive: true });
  for (const entry of readdirSync(dist, { withFileTypes: true }))
    if (entry.isFile()) rmSync(new URL(entry.name, dist));
}

function writeJson(file: string, value: object): void {
  writeFileSync(new URL(file, dist), `${JSON.stringify(value, null, 2)}\n`);
}
