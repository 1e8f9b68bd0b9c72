import { readFileSync } from 'node:fs';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checks } from './checks.ts';
import type { Browser } from './support/browser.ts';
import { startChromium } from './support/chromium.ts';
import { startFirefox } from './support/firefox.ts';
import { startWebKit } from './support/webkit.ts';

const browsers = { Chromium: startChromium, Firefox: startFirefox, WebKitGTK: startWebKit };

/** Each browser with its version, and the checks that it has passed. */
const passed = new Map<string, Set<string>>();

describe.each(Object.entries(browsers))('%s', (name, start) => {
  let browser: Browser;
  const done = new Set<string>();

  beforeAll(async () => {
    browser = await start();
    passed.set(`${name} ${browser.version}`, done);
  });

  afterAll(() => browser[Symbol.asyncDispose]());

  test.each(Object.entries(checks))('%s', async (check, run) => {
    await run(browser);
    done.add(check);
  });
});

/** As docs/embedding.md has it. */
afterAll(() => {
  const rows = [
    ['check', ...passed.keys()],
    ['---', ...Array.from(passed, () => '---')],
    ...Object.keys(checks).map((check) => [check, ...Array.from(passed.values(), hasDone(check))]),
  ];
  process.stdout.write(`\n${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`);
});

const hasDone = (check: string) => (done: ReadonlySet<string>) => (done.has(check) ? 'yes' : 'no');

test('docs/embedding.md names these checks, in these browsers', () => {
  const text = readFileSync(new URL('../../docs/embedding.md', import.meta.url), 'utf8');
  const [, header = '', body = ''] = /^(\| check \|.*\|)\n\| ---.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
  const titles = [...header.matchAll(/\| (\w+) [\d.]+/g)].map(([, name]) => name);

  expect(titles).toEqual(Object.keys(browsers));
  expect(body.trimEnd().split('\n')).toEqual(
    Object.keys(checks).map((check) => `| ${check} |${' yes |'.repeat(titles.length)}`),
  );
});
