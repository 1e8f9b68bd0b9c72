import { describe, expect, test } from 'vitest';
import document from '../../../docs/embedding.md?raw';
import diagnosis from '../../../widget/src/client/diagnosis.ts?raw';
import { isRetryable, type PortalErrorCode } from '../../../widget/src/gateway/errors.ts';
import errors from '../../../widget/src/gateway/errors.ts?raw';

/** The codes of a union type, as its source says them. */
function codesOf(source: string, start: string): readonly string[] {
  const from = source.indexOf(start);
  return source.slice(from, source.indexOf(';', from)).match(/(?<=')[A-Z_]+(?=')/g) ?? [];
}

/** The cells of every row of a table that begins with a code. */
function rowsOf(text: string): readonly (readonly string[])[] {
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) =>
    row
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', ''))
      .slice(1, -1),
  );
}

/** The text under this heading. */
function sectionOf(heading: string): string {
  const [, section = ''] = document.split(`### ${heading}\n`);
  return section.split(/^#/m)[0] ?? '';
}

describe('the document of the codes', () => {
  test('has every error once, in order, and says truly which may be tried again', () => {
    const codes = codesOf(errors, 'type PortalErrorCode');

    expect(codes.length).toBeGreaterThan(10);
    expect(rowsOf(sectionOf('Error codes')).map(([code, , retryable]) => [code, retryable])).toEqual(
      codes.map((code) => [code, isRetryable(code as PortalErrorCode) ? 'yes' : 'no']),
    );
  });

  test('has every answer of a diagnosis that is no error', () => {
    expect(rowsOf(sectionOf('What `diagnose()` answers')).map(([code]) => code)).toEqual(
      codesOf(diagnosis, 'readonly code:'),
    );
  });
});
