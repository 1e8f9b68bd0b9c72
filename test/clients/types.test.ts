import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { readDocumentList } from '../../gateway/execution/document/document-list.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('types/', import.meta.url));
const tool = (path: string) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));

/** As docs/clients.md has it. */
const config = (scalars: object) => ({
  schema: '../../../schema.graphql',
  documents: ['codegen.ts'],
  generates: {
    'built/': {
      preset: 'client',
      presetConfig: { persistedDocuments: { hashAlgorithm: 'sha256' } },
      config: { scalars, useTypeImports: true, enumsAsTypes: true, importExtension: '.js' },
    },
  },
});

beforeAll(async () => {
  const name = '@labgraph/client/schema';
  const { scalars } = await import(/* @vite-ignore */ name);
  writeFileSync(`${folder}codegen.json`, JSON.stringify(config(scalars)));
  await run(process.execPath, [tool('@graphql-codegen/cli/cjs/bin.js'), '-c', 'codegen.json'], {
    cwd: folder,
  });
});

test('gql.tada and codegen know each field, and refuse what is not there', async () => {
  const said = await run(process.execPath, [
    tool('typescript/bin/tsc'),
    '-p',
    folder,
    '--pretty',
    'false',
  ]).catch((cause) => cause);

  expect(said.stdout).toBe('');
});

test('codegen’s persisted documents are a list that the gateway takes', () => {
  const { documents } = readDocumentList(`${folder}built/persisted-documents.json`);

  expect(documents.map(({ text }) => text.split('(')[0])).toEqual(['query ReadOrderByCodegen']);
});
