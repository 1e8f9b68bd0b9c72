import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'vite';
import { contract } from './contract.ts';
import { toCustomElements, toVsCodeData, toWebTypes } from './manifests.ts';
import { buildModules } from './modules.ts';
import { publish } from './published-files.ts';

/** Builds everything that is published: the module and languages for pages, the modules for bundlers, the manifests. */
const widget = new URL('..', import.meta.url);
const dist = new URL('dist/', widget);
const widgetPackage = JSON.parse(readFileSync(new URL('package.json', widget), 'utf8'));

process.chdir(widget.pathname);
await build({ logLevel: 'warn' });
await buildModules();
copyFileSync(new URL('src/placeholder.css', widget), new URL('placeholder.css', dist));
writeJson('custom-elements.json', toCustomElements(contract));
writeJson('web-types.json', toWebTypes(contract, widgetPackage));
writeJson('vscode.html-custom-data.json', toVsCodeData(contract));
publish(dist, widgetPackage.version);

function writeJson(file: string, value: object): void {
  writeFileSync(new URL(file, dist), `${JSON.stringify(value, null, 2)}\n`);
}
