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

/** Each browser with its version, and the checks that it has passed. */
const passed = new Map<string, Set<string>>();

describe.each(browsers)('$name, $start.name', ({ name, start, without }) => {
  let browser: Browser;
  const done = new Set<string>();

  beforeAll(async () => {
    browser = await start();
    passed.set(`${name} ${browser.version}`, done);
  });

  afterAll(() => browser[Symbol.asyncDispose]());

  const possible = Object.entries(checks).filter(([check]) => check !== without);
  test.each(possible)('%s', async (check, run) => {
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

const hasDone = (check: string) => (done: ReadonlySet<string>) => (done.has(check) ? 'yes' : '-');

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
