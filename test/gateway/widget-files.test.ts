import { rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createWidgetFiles } from '../../gateway/http/pages/widget-files.ts';
import { makeFolder } from '../support/folder.ts';

test('a widget file is read from the disk once, and each answer has all of it', async () => {
  using folder = makeFolder();
  writeFileSync(folder.file('portal-widget.js'), 'export {};');
  const answer = createWidgetFiles(pathToFileURL(`${folder.path}/`));
  await (await answer('portal-widget.js')).text();
  rmSync(folder.file('portal-widget.js'));
  const again = await answer('portal-widget.js');
  expect(again.status).toBe(200);
  expect(again.headers.get('content-length')).toBe('10');
  expect(await again.text()).toBe('export {};');
});

test('answers share the bytes of a widget file', async () => {
  using folder = makeFolder();
  writeFileSync(folder.file('portal-widget.js'), 'export {};');
  const answer = createWidgetFiles(pathToFileURL(`${folder.path}/`));
  const readFirst = async () => (await (await answer('portal-widget.js')).body?.getReader().read())?.value;
  expect((await readFirst())?.buffer).toBe((await readFirst())?.buffer);
});

test('a widget file that is built later is there without a restart', async () => {
  using folder = makeFolder();
  const answer = createWidgetFiles(pathToFileURL(`${folder.path}/`));
  expect((await answer('portal-widget.js')).status).toBe(404);
  writeFileSync(folder.file('portal-widget.js'), 'export {};');
  expect((await answer('portal-widget.js')).status).toBe(200);
});
