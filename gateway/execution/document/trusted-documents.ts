import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Caller, Rights } from '../../auth/rights.ts';
import { GatewayError } from '../../errors.ts';

/** How many different documents of viewers are logged; further ones are only counted. */
const maxTold = 1000;

export type ListingMode = 'off' | 'log' | 'enforce';

export interface ListedOperationsOptions {
  /** For documents that are not trusted: `enforce` refuses them, `log` logs them. */
  readonly mode: ListingMode;
  /** JSON files of documents by their sha256 hash. A file of `whereBuilt` may be missing: it comes with a build. */
  readonly files: readonly (string | URL)[];
  readonly whereBuilt: readonly (string | URL)[];
  /** Called with a viewer's document that is not trusted: with its hash the first time. */
  readonly onUnlisted: (hash: string | null) => void;
}

/** What the list says of a document. Nothing in it depends on who sends it. */
export interface Listing {
  /** sha256 of its text; null where there is no list. */
  readonly hash: string | null;
  /** Whether it is on the list; where there is none every document is trusted. */
  readonly isTrusted: boolean;
}

export interface ListedOperations {
  /** Looks a document up by its text. It takes a hash of the text, so it is done once per document. */
  readonly lookUp: (text: string) => Listing;
  /**
   * Refuses a viewer's document that is not on an enforced list. Call it before the document is parsed.
   * @throws GatewayError OPERATION_NOT_LISTED
   */
  readonly requireListed: (caller: Caller, document: Listing) => void;
  /** @returns whether the team wrote the document: its servers may send any, and the team wrote the list */
  readonly check: (caller: Caller, document: Listing) => boolean;
  /** Counts another use of a document that is not trusted. */
  readonly countUnlisted: () => void;
  /** The document that the list has under a hash; null where it has none. Nothing that is sent gets onto the list. */
  readonly find: (hash: string) => string | null;
}

/**
 * The documents that browsers may send. A token in a browser is in the hands of whoever has the browser: with a list it
 * is good for what the widget and the team's own pages ask, and for nothing else.
 * @throws GatewayError CONFIG_INVALID for a file that is no list, and when all would be refused
 */
export function createListedOperations(options: ListedOperationsOptions): ListedOperations {
  if (options.mode === 'off') return noList;
  const listed = new Map([
    ...options.files.flatMap((file) => readList(file)),
    ...options.whereBuilt.flatMap((file) => readList(file, { mayBeMissing: true })),
  ]);
  if (options.mode === 'enforce' && listed.size === 0) {
    throw new GatewayError(
      'CONFIG_INVALID',
      '- PERSISTED_OPERATIONS=enforce needs a list: build the widget (npm run build) or name a PERSISTED_OPERATIONS_FILE.',
    );
  }
  const tell = createTelling(options.onUnlisted);
  const check = (caller: Caller, { hash, isTrusted }: Listing) => {
    if (isOfTeam(caller) || isTrusted) return true;
    if (hash !== null) tell(hash);
    return false;
  };
  return {
    lookUp: (text) => {
      const hash = hashOf(text);
      return { hash, isTrusted: listed.has(hash) };
    },
    check,
    requireListed: (caller, document) => {
      if (options.mode === 'enforce' && !check(caller, document)) throw notListed();
    },
    countUnlisted: () => options.onUnlisted(null),
    find: (hash) => listed.get(hash) ?? null,
  };
}

const noList: ListedOperations = {
  lookUp: () => unchecked,
  requireListed: () => {},
  check: () => true,
  countUnlisted: () => {},
  find: () => null,
};

const unchecked: Listing = { hash: null, isTrusted: true };

function isOfTeam(caller: Caller): boolean {
  return new Rights(caller).has('gateway-key');
}

/** The name of a document on a list: sha256 of its text as it is sent, in hexadecimal digits. */
function hashOf(document: string): string {
  return createHash('sha256').update(document).digest('hex');
}

const listShape = z.record(z.string().regex(/^[0-9a-f]{64}$/), z.string());

function readList(file: string | URL, { mayBeMissing = false } = {}): readonly (readonly [string, string])[] {
  const text = readText(file);
  if (text === null) {
    if (mayBeMissing) return [];
    throw unusable(file, 'cannot be read');
  }
  const list = readShape(text);
  if (list === null) throw unusable(file, 'is not a JSON object of documents by their sha256 hash');
  const documents = Object.entries(list);
  const wrong = documents.find(([hash, document]) => hashOf(document) !== hash);
  if (wrong !== undefined) throw unusable(file, `has another document under ${wrong[0]}`);
  return documents;
}

function readText(file: string | URL): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function readShape(text: string): z.infer<typeof listShape> | null {
  try {
    return listShape.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

function unusable(file: string | URL, why: string): GatewayError {
  return new GatewayError('CONFIG_INVALID', `- The list of operations ${String(file)} ${why}.`);
}

/** Reports each document once, and a limited number: a caller can invent as many as it likes. */
function createTelling(onUnlisted: ListedOperationsOptions['onUnlisted']): (hash: string) => void {
  const told = new Set<string>();
  return (hash) => {
    const isNews = !told.has(hash) && told.size < maxTold;
    if (isNews) told.add(hash);
    onUnlisted(isNews ? hash : null);
  };
}

function notListed(): GatewayError {
  const message = 'This gateway takes from viewers only the operations on its list.';
  return new GatewayError('OPERATION_NOT_LISTED', message);
}
