import { readFileSync } from 'node:fs';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blockedCheck, checks } from './checks.ts';
import type { Browser } from './support/browser.ts';
import { startChromium } from './support/chromium.ts';
import { startFirefox } from './support/firefox.ts';
import { startOldChromium } from './support/old-chromium.ts';
import { startWebKit } from './support/webkit.ts';

interface Tested {
  readonly name: string;
  readonly start: () => Promise<Browser>;
  /** A check that this build of it cannot pass. */
  readonly without?: string;
}

const browsers: readonly Tested[] = [
  { name: 'Chromium', start: startChromium },
  { name: 'Chromium', start: startOldChromium, without: blockedCheck },
  { name: 'Firefox', start: startFirefox },
  { name: 'WebKitGTK', start: startWebKit },
];

/** Each browser with its version, and the cells of its checks. */
const results = new Map<string, ReadonlyMap<string, string>>();

describe.each(browsers)('$name, $start.name', ({ name, start, without }) => {
  let browser: Browser;
  const cells = new Map(Object.keys(checks).map((check) => [check, check === without ? '-' : 'no']));

  beforeAll(async () => {
    browser = await start();
    results.set(`${name} ${browser.version}`, cells);
  });

  afterAll(() => browser[Symbol.asyncDispose]());

  const possible = Object.entries(checks).filter(([check]) => check !== without);
  test.each(possible)('%s', async (check, run) => {
    await run(browser);
    cells.set(check, 'yes');
  });
});

/** As docs/embedding.md has it. */
afterAll(() => {
  const rows = [
    ['check', ...results.keys()],
    ['---', ...Array.from(results, () => '---')],
    ...Object.keys(checks).map((check) => [
      check,
      ...Array.from(results.values(), (cells) => cells.get(check)),
    ]),
  ];
  process.stdout.write(`\n${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`);
});

test('docs/embedding.md names these checks, in these browsers', () => {
  const text = readFileSync(new URL('../../docs/embedding.md', import.meta.url), 'utf8');
  const [, header = '', body = ''] = /^(\| check \|.*\|)\n\| ---.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
  const titles = [...header.matchAll(/\| (\w+) [\d.]+/g)].map(([, name]) => name);

  expect(titles).toEqual(browsers.map(({ name }) => name));
  expect(body.trimEnd().split('\n')).toEqual(
    Object.keys(checks).map((check) => {
      const cells = browsers.map(({ without }) => (check === without ? '-' : 'yes'));
      return `| ${[check, ...cells].join(' | ')} |`;
    }),
  );
});
