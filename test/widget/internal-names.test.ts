import { expect, test } from 'vitest';
import { internalNames } from '../../widget/build/internal-names.ts';
import * as entry from '../../widget/src/index.ts';

/** Every name that an object of the browser, and so a page, may know. */
function namesOfBrowser(): ReadonlySet<string> {
  const names = new Set<string>();
  for (const name of Object.getOwnPropertyNames(window)) {
    names.add(name);
    const { prototype } =
      (window as unknown as Record<string, { prototype?: object } | undefined>)[name] ?? {};
    for (const member of prototype ? Object.getOwnPropertyNames(prototype) : []) names.add(member);
  }
  return names;
}

/** The names in the contract of the elements. */
const PUBLIC =
  `endpoint orderId mode status live disabled portalOrigins privacy pollInterval tokenProvider strings statusLabel client
  order phase connection lastError launch refresh retry pause resume diagnose focus click updateComplete
  code message retryable requestId previous source reason scope signal token expiresAt respondWith request answer
  raw stage step label isTerminal needsAttention id createdAt method events testName mend execute`.split(
    /\s+/,
  );

test('no name that the build shortens is a name of the browser, of the contract or of the entry', () => {
  const taken = new Set([...namesOfBrowser(), ...PUBLIC, ...Object.keys(entry)]);

  expect(internalNames.filter((name) => taken.has(name))).toEqual([]);
});
