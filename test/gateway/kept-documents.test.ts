import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { keepDocuments } from '../../gateway/edge/kept-documents.ts';

const document = parse('{ viewer { kind } }');

test('a document is kept for the next time it comes, up to 10,000 characters and 300 of them', () => {
  const { documentCache } = keepDocuments();
  documentCache.set('a'.repeat(10_000), document);
  documentCache.set('a'.repeat(10_001), document);
  expect(documentCache.get('a'.repeat(10_000))).toBe(document);
  expect(documentCache.get('a'.repeat(10_001))).toBeUndefined();
  for (let index = 0; index < 300; index += 1) documentCache.set(`${index}`, document);
  expect(documentCache.get('a'.repeat(10_000))).toBeUndefined();
  expect(documentCache.get('299')).toBe(document);
});
