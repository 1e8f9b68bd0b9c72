import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { listFiles, readOpened } from './files.ts';
import {
  type AuditKey,
  beginningOf,
  formatHead,
  type Head,
  type Line,
  readLine,
  type Written,
} from './line.ts';

export interface ExamineOptions {
  readonly folder: string;
  /** All keys that were ever used for these files. */
  readonly keys: readonly AuditKey[];
  /** The oldest file that is still here; older ones were archived. */
  readonly from?: string | undefined;
  /** Heads from another source, such as the gateway's log: the files must reach at least as far. */
  readonly heads?: readonly Head[];
  /** Called with every line in turn. */
  readonly onLine?: (line: Line, found: Found) => Promise<void>;
}

interface Found {
  readonly file: string;
  /** The key that the file was written with; null when it is none of `keys`. */
  readonly key: AuditKey | null;
  /** Whether the line is linked to the line before it. */
  readonly isSound: boolean;
}

export interface Examined {
  readonly files: number;
  readonly lines: number;
  /** Accesses that the trail itself reports as missing, because the disk did not take them. */
  readonly lost: number;
  /** Faults, in sentences. */
  readonly faults: readonly string[];
  /** Other things to know, in sentences. */
  readonly remarks: readonly string[];
}

/** Reads a whole trail and reports what was changed, removed, added, moved or cut off. */
export async function examineTrail(options: ExamineOptions): Promise<Examined> {
  const isHere = ({ file }: Head) => file >= (options.from ?? '');
  const files = (await listFiles(options.folder)).filter((file) => isHere(beginningOf(file)));
  const expected = new ExpectedHeads((options.heads ?? []).filter(isHere));
  for (const file of files) expected.want((await readOpened(options.folder, file)).filter(isHere));
  const examinations: FileExamination[] = [];
  for (const file of files) {
    const examination = new FileExamination(file, options);
    await examination.run(expected);
    examinations.push(examination);
  }
  return {
    files: files.length,
    lines: sum(examinations.map(({ lines }) => lines)),
    lost: sum(examinations.map(({ lost }) => lost)),
    faults: [...examinations.flatMap(({ faults }) => faults), ...expected.describeMissing()],
    remarks: examinations.flatMap(({ remarks }) => remarks),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Compares the heads that other files or the log have named with the lines that are found. */
class ExpectedHeads {
  readonly #wanted = new Map<string, Head>();
  readonly #links = new Map<string, string>();
  readonly #last = new Map<string, number>();

  constructor(heads: readonly Head[]) {
    this.want(heads);
  }

  want(heads: readonly Head[]): void {
    for (const head of heads) this.#wanted.set(formatHead(head), head);
    for (const { file, n } of heads) this.#links.set(`${file} ${n}`, '');
  }

  see({ file, n, link }: Head): void {
    const place = `${file} ${n}`;
    if (this.#links.has(place)) this.#links.set(place, link);
    this.#last.set(file, n);
  }

  describeMissing(): readonly string[] {
    return [...this.#wanted.values()].flatMap(({ file, n, link }) => {
      if (this.#links.get(`${file} ${n}`) === link) return [];
      const last = this.#last.get(file);
      if (last === undefined) return [`${file} is gone: it had line ${n}.`];
      if (last < n) return [`${file} was cut off after line ${last}: it had line ${n}.`];
      return [`${file} has another line ${n} than it had.`];
    });
  }
}

/** One file, line by line. */
class FileExamination {
  readonly file: string;
  readonly #options: ExamineOptions;
  readonly faults: string[] = [];
  readonly remarks: string[] = [];
  lines = 0;
  lost = 0;
  #key: AuditKey | null = null;
  #head: Head;

  constructor(file: string, options: ExamineOptions) {
    this.file = file;
    this.#options = options;
    this.#head = beginningOf(file);
  }

  async run(expected: ExpectedHeads): Promise<void> {
    let torn = '';
    for await (const { text, isWhole } of readLines(join(this.#options.folder, this.file))) {
      if (isWhole) await this.#take(text, expected);
      else torn = text;
    }
    if (torn === '') return;
    this.remarks.push(
      `${this.file} ends in ${Buffer.byteLength(torn)} bytes of a line: its gateway was killed, or the disk full, as it wrote.`,
    );
  }

  async #take(text: string, expected: ExpectedHeads): Promise<void> {
    this.lines += 1;
    const written = readLine(text);
    if (written === null) {
      this.faults.push(`${this.file}: the text after line ${this.#head.n} is no line of a trail.`);
      return;
    }
    const { line, link } = written;
    if (this.lines === 1)
      this.#key = this.#options.keys.find((key) => written.follows(key, this.file)) ?? null;
    const fault = this.#findFault(written);
    if (fault !== null) this.faults.push(`${this.file}: ${fault}`);
    this.#head = { file: this.file, n: line.n, link };
    expected.see(this.#head);
    if ('lost' in line) this.lost += line.lost;
    await this.#options.onLine?.(line, { file: this.file, key: this.#key, isSound: fault === null });
  }

  #findFault({ line: { n }, follows }: Written): string | null {
    const expected = this.#head.n + 1;
    if (this.#key === null)
      return this.lines > 1 ? null : 'its first line was changed, or no key in AUDIT_TRAIL_KEY opens it.';
    if (follows(this.#key, this.#head.link)) return null;
    if (n > expected) return `${n - expected} lines are missing before line ${n}.`;
    if (n < expected) return `line ${n} is not where it was written, or is no line of ours.`;
    return `line ${n} was changed.`;
  }
}

interface Piece {
  readonly text: string;
  /** Whether it ends as a line does. */
  readonly isWhole: boolean;
}

async function* readLines(path: string): AsyncGenerator<Piece> {
  let rest = '';
  for await (const chunk of createReadStream(path, 'utf8')) {
    const pieces = `${rest}${chunk}`.split('\n');
    rest = pieces.pop() ?? '';
    for (const text of pieces) yield { text, isWhole: true };
  }
  if (rest !== '') yield { text: rest, isWhole: false };
}
