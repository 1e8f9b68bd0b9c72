import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import { tryParseJson } from '../../parse/json.ts';

export interface ListedDocument {
  /** What a client sends instead of the text, without `sha256:`. */
  readonly id: string;
  readonly text: string;
}

/** The documents that one version of one client sends. */
export interface DocumentList {
  /** Both from the file's name: `web-app@1.4.0.json`. Without an `@` the version is not known. */
  readonly client: string;
  readonly version: string | null;
  readonly documents: readonly ListedDocument[];
}

/** Documents by their hash: as GraphQL Code Generator, Relay's compiler and our own build write them. */
const byHash = z.record(z.string(), z.string());

/** As Apollo's `generate-persisted-query-manifest` writes them. An id there is what the team's configuration makes of a document. */
const apolloManifest = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  operations: z.array(z.object({ id: z.string().min(1).max(256), body: z.string() })),
});

/** How a hash was made, by the number of its hexadecimal digits. Relay's default is MD5, GraphQL Code Generator's SHA-1. */
const algorithms = new Map([
  [32, 'md5'],
  [40, 'sha1'],
  [64, 'sha256'],
]);

/**
 * Reads a list of documents, in any of the forms in which clients' tools write it.
 * @throws GatewayError CONFIG_INVALID for a file that cannot be read or is no list
 */
export function readDocumentList(file: string | URL): DocumentList {
  const text = readText(file);
  if (text === null) throw unusable(file, 'cannot be read');
  const content = tryParseJson(text);
  const manifest = apolloManifest.safeParse(content).data;
  if (manifest) {
    return { ...nameOf(file), documents: manifest.operations.map(({ id, body }) => ({ id, text: body })) };
  }
  const entries = byHash.safeParse(content).data;
  if (!entries)
    throw unusable(file, 'is neither a JSON object of documents by their hash nor a manifest of Apollo');
  const documents = Object.entries(entries).map(([key, document]) => ({
    id: key.replace(/^sha256:/, ''),
    text: document,
  }));
  const wrong = documents.find(({ id, text: document }) => !isHashOf(id, document));
  if (wrong !== undefined) throw unusable(file, `has another document under ${wrong.id}`);
  return { ...nameOf(file), documents };
}

/** sha256 of a document's text as sent, in hexadecimal digits. */
export function hashDocument(text: string): string {
  return hash('sha256', text);
}

function isHashOf(id: string, text: string): boolean {
  const algorithm = algorithms.get(id.length);
  return algorithm !== undefined && hash(algorithm, text) === id;
}

function hash(algorithm: string, text: string): string {
  return createHash(algorithm).update(text).digest('hex');
}

function nameOf(file: string | URL): Pick<DocumentList, 'client' | 'version'> {
  const name = (String(file).split(/[/\\]/).at(-1) ?? '').replace(/\.json$/, '');
  const at = name.lastIndexOf('@');
  return at > 0
    ? { client: name.slice(0, at), version: name.slice(at + 1) }
    : { client: name, version: null };
}

function readText(file: string | URL): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function unusable(file: string | URL, why: string): GatewayError {
  return new GatewayError('CONFIG_INVALID', `- The list of operations ${String(file)} ${why}.`);
}
