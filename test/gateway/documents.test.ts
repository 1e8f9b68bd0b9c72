import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
const pages = [
  'README.md',
  'SECURITY.md',
  ...inDocs.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`),
];
const read = (page: string) => readFileSync(join(root, page), 'utf8');
const withoutCode = (page: string) => read(page).replaceAll(/^```.*?^```/gms, '');

/** As GitHub makes the anchor of a heading. */
function toAnchor(heading: string): string {
  return heading
    .replaceAll(/[`*]/g, '')
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .trim()
    .replaceAll(' ', '-');
}

const anchorsOf = (page: string) =>
  [...withoutCode(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => toAnchor(heading));

function isBroken(page: string, link: string): boolean {
  const [path = '', anchor = ''] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return true;
  return anchor !== '' && !anchorsOf(target).includes(anchor);
}

test('every link of a document leads to a file, and to a heading of it', () => {
  const links = pages.flatMap((page) =>
    [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => ({ page, link })),
  );
  const local = links.filter(({ link }) => !/^https?:/.test(link));
  expect(local.length).toBeGreaterThan(100);
  expect(local.filter(({ page, link }) => isBroken(page, link))).toEqual([]);
});

/** Pages with parts that a measurement has written: their files may be gone since. */
const measured = /^docs\/(performance|decisions\/0096)/;

test('every file of ours that a document names exists', () => {
  const named = pages
    .filter((page) => !measured.test(page))
    .flatMap((page) =>
      [...withoutCode(page).matchAll(/`([a-z][\w.-]*\/[\w./-]+\.(?:ts|js))`/g)].map(([, path = '']) => ({
        page,
        path,
      })),
    );
  const folders = ['', 'gateway/', 'gateway/domain/', 'test/', 'widget/src/'];
  const places = (path: string) => folders.map((folder) => `${folder}${path}`);
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ path }) => !places(path).some((place) => existsSync(join(root, place))))).toEqual(
    [],
  );
});

test('the index lists every decision once, by its number and title', () => {
  const folder = join(root, 'docs/decisions');
  const decisions = readdirSync(folder).filter((file) => /^\d{4}-/.test(file));
  const listed = [...read('docs/decisions/README.md').matchAll(/^- \[(.*)\]\((.*)\)$/gm)].map(
    ([, title, file]) => ({
      file,
      title,
    }),
  );
  const expected = decisions.map((file) => ({
    file,
    title: readFileSync(join(folder, file), 'utf8').split('\n')[0]?.replace(/^# /, ''),
  }));
  const byFile = (a: { file?: string | undefined }, b: { file?: string | undefined }) =>
    String(a.file).localeCompare(String(b.file));
  expect(listed.toSorted(byFile)).toEqual(expected.toSorted(byFile));
});

test('the glossary has at most 40 terms', () => {
  const [, glossary = ''] = /\n## Glossary\n(.*?)\n## /s.exec(read('docs/architecture.md')) ?? [];
  const terms = glossary.split('\n').filter((line) => /^\| [a-z]/.test(line) && !line.startsWith('| term'));
  expect(terms.length).toBeGreaterThan(20);
  expect(terms.length).toBeLessThanOrEqual(40);
});
