import { createHmac, hkdfSync } from 'node:crypto';
import { z } from 'zod';

const pseudonymDigits = 16;

/** The links and pseudonyms made with one key of AUDIT_TRAIL_KEY. */
export class AuditKey {
  readonly #linkKey: Buffer;
  readonly #pseudonymKey: Buffer;

  /** @param key 32 bytes */
  constructor(key: Buffer) {
    const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), purpose, 32));
    this.#linkKey = derive('labgraph audit link');
    this.#pseudonymKey = derive('labgraph audit pseudonym');
  }

  /** The link of a line to the line before it. Nobody can make one without the key. */
  link(before: string, body: string): string {
    return createHmac('sha256', this.#linkKey).update(`${before}\n${body}`).digest('base64url');
  }

  /** A user has the same pseudonym as long as the key is the same. Nobody can make or check one without the key. */
  userPseudonym(userId: string): string {
    return this.#pseudonym(`user ${userId.toLowerCase()}`);
  }

  tokenPseudonym(tokenId: string): string {
    return this.#pseudonym(`token ${tokenId}`);
  }

  #pseudonym(text: string): string {
    return createHmac('sha256', this.#pseudonymKey).update(text).digest('hex').slice(0, pseudonymDigits);
  }
}

/**
 * The trail is lines of JSON. Each ends with `link`, a keyed hash of everything before it in the line and of the link
 * of the line before; the first line of a file is linked to the file's name.
 */
export interface Head {
  readonly file: string;
  /** Of the file's last line; the first is 0. */
  readonly n: number;
  readonly link: string;
}

const headShape = z.object({ file: z.string(), n: z.number().int().min(0), link: z.string() });

/** The first line of a file: the heads of other files that no file had named yet. */
const openingShape = z.object({ n: z.literal(0), at: z.string(), opened: z.array(headShape) });
const accessShape = z.object({
  n: z.number().int().positive(),
  at: z.string(),
  /** A gateway key by its name, `billing-1a2b3c4d` or `key-1a2b3c4d`, or `user-` and the user's pseudonym. */
  caller: z.string(),
  /** Pseudonym of the viewer token's own id. */
  token: z.string().optional(),
  kind: z.string(),
  /** The user's pseudonym; null when the user is not known. */
  user: z.string().nullable(),
  outcome: z.string(),
  /** Set in a line for repeated accesses: the number of accesses from `since` until `at` that equal an earlier line. */
  count: z.number().int().positive().optional(),
  since: z.string().optional(),
});
/** Marks where accesses are missing, because the disk did not take them and the buffer was full. */
const lossShape = z.object({ n: z.number().int().positive(), at: z.string(), lost: z.number().int() });

const lineShape = z.union([openingShape, accessShape, lossShape]);
export type Line = z.infer<typeof lineShape>;
export type AccessLine = z.infer<typeof accessShape>;

/** A line without its number. */
export type NewLine =
  | Omit<z.infer<typeof openingShape>, 'n'>
  | Omit<AccessLine, 'n'>
  | Omit<z.infer<typeof lossShape>, 'n'>;

const tail = /^(\{.*),"link":"([\w-]{43})"\}$/;

/** The head of an empty file: the first line is linked to the file's name. */
export function beginningOf(file: string): Head {
  return { file, n: -1, link: file };
}

/** Makes the text of the line that follows the head. */
export function linkLine(
  key: AuditKey,
  head: Head,
  line: NewLine,
): { readonly text: string; readonly head: Head } {
  const n = head.n + 1;
  const body = JSON.stringify({ n, ...line }).slice(0, -1);
  const link = key.link(head.link, body);
  return { text: `${body},"link":"${link}"}\n`, head: { file: head.file, n, link } };
}

/** A line read from a file. */
export interface Written {
  readonly line: Line;
  readonly link: string;
  /** Whether its link was made with this key and the link of the line before. */
  readonly follows: (key: AuditKey, before: string) => boolean;
}

/** @returns null for a text that is not a line of a trail */
export function readLine(text: string): Written | null {
  const [, body, link] = tail.exec(text) ?? [];
  if (body === undefined || link === undefined) return null;
  const line = parseLine(`${body}}`);
  return line && { line, link, follows: (key, before) => key.link(before, body) === link };
}

function parseLine(json: string): Line | null {
  try {
    return lineShape.safeParse(JSON.parse(json)).data ?? null;
  } catch {
    return null;
  }
}

/** A head as text for the log: `<file>:<n>:<link>`. */
export function formatHead({ file, n, link }: Head): string {
  return `${file}:${n}:${link}`;
}

/** @returns null for anything else */
export function parseHead(text: string): Head | null {
  const [, file, n, link] = /^([\w-]+\.jsonl):(\d+):([\w-]{43})$/.exec(text) ?? [];
  return file === undefined || link === undefined ? null : { file, n: Number(n), link };
}
