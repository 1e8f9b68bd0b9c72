import { readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { parseSync } from 'oxc-parser';
import { describe, expect, test } from 'vitest';

/** The built files; `npm test` builds them first. */
const folder = new URL('../../widget/dist/', import.meta.url);
const languages = ['ar', 'de', 'es', 'fr', 'pt'];

/** Bytes over the network, compressed as well as each can. The goal is 22,000 and 19,500 (decision 0097). */
const budget = { gzip: 25_295, brotli: 22_580 };
/** What the results add to that. */
const resultsBudget = 8000;
const languageBudgetBytes = 3500;

function read(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

/** The number of imports in a file, also of those while it runs. A text of a library may contain the word. */
function countImports(name: string): number {
  const { staticImports, dynamicImports } = parseSync(name, read(name)).module;
  return staticImports.length + dynamicImports.length;
}

function sizeOf(name: string): number {
  return gzipSync(read(name), { level: 9 }).length;
}

describe('the module for pages', () => {
  test(`weighs at most ${budget.gzip} bytes with gzip and ${budget.brotli} with brotli`, () => {
    const gzip = sizeOf('portal-widget.js');
    const brotli = brotliCompressSync(read('portal-widget.js')).length;
    process.stdout.write(`portal-widget.js: ${gzip} bytes with gzip, ${brotli} with brotli\n`);

    expect(gzip).toBeLessThanOrEqual(budget.gzip);
    expect(brotli).toBeLessThanOrEqual(budget.brotli);
  });

  test('is one file that loads no other', () => {
    expect(countImports('portal-widget.js')).toBe(0);
  });

  test('has every language beside it, in a file that loads no other', () => {
    const names = languages.map((language) => `portal-widget.${language}.js`);

    expect(readdirSync(folder).filter((name) => name.endsWith('.js'))).toEqual(
      [...names, 'portal-results.js', 'portal-widget.js'].toSorted(),
    );
    expect(names.filter((name) => countImports(name) > 0 || sizeOf(name) > languageBudgetBytes)).toEqual([]);
  });

  test('may be imported where there is no page, and does nothing there', async () => {
    const names = ['portal-results.js', ...languages.map((language) => `portal-widget.${language}.js`)];

    const modules = await Promise.all(names.map((name) => import(new URL(name, folder).href)));

    expect(modules.flatMap((module) => Object.keys(module))).toEqual([]);
  });
});

describe('the file of the results', () => {
  const text = read('portal-results.js');
  const [, imported = ''] = /^import\{([^}]*)\}from"\.\/portal-widget\.js";/.exec(text) ?? [];

  test(`adds at most ${resultsBudget} bytes with brotli`, () => {
    const brotli = brotliCompressSync(text).length;
    process.stdout.write(`portal-results.js: ${brotli} bytes with brotli\n`);

    expect(brotli).toBeLessThanOrEqual(resultsBudget);
  });

  test('takes everything else from the module beside it, which has nothing more than that for others', async () => {
    const names = imported.split(',').map((each) => each.split(' as ')[0]);
    const shared = Object.keys(await import(new URL('portal-widget.js', folder).href));

    expect(text.match(/\bimport\b/g)).toEqual(['import']);
    expect(shared.toSorted()).toEqual([...names, 'createPortalClient'].toSorted());
  });
});
