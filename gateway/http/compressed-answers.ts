import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import { copyAlone } from '../parse/bytes.ts';
import type { DirectAnswer } from './direct-request.ts';
import { type Coding, chooseCoding } from './negotiation.ts';

/** A smaller answer fits into one packet with its head, so fewer bytes would not arrive earlier. */
const minBytes = 1024;
/** Up to here an answer is compressed at once, in less time than another thread takes to begin. */
const maxInlineBytes = 16 * 1024;
/** Node has four threads for this and for files. While all are busy, answers are sent uncompressed. */
const maxInFlight = 4;

/** Higher levels save a tenth of the bytes for twice the time (decision 0099). */
const brotliParams = { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } };
const gzipLevel = { level: constants.Z_BEST_SPEED };

type Compressed = Exclude<Coding, 'identity'>;
const codings: readonly Coding[] = ['br', 'gzip', 'identity'];

const compressInline: Readonly<Record<Compressed, (body: Buffer) => Buffer>> = {
  br: (body) => brotliCompressSync(body, brotliParams),
  gzip: (body) => gzipSync(body, gzipLevel),
};
const compressInThread: Readonly<Record<Compressed, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => promisify(brotliCompress)(body, brotliParams),
  gzip: (body) => promisify(gzip)(body, gzipLevel),
};

/** Whether a client may get this answer compressed. Answers of mutations are never: they contain tokens and links. */
export function isCompressible({ isQuery, body }: DirectAnswer): boolean {
  return isQuery && body.length >= minBytes;
}

interface Form {
  readonly coding: Compressed;
  readonly answer: Promise<DirectAnswer> | DirectAnswer;
}

/**
 * Compresses answers for clients that accept it. The last form of an answer is held as long as the answer itself, so a
 * cached answer is compressed once. A form has at most the bytes of its answer.
 */
export class AnswerCompression {
  readonly #forms = new WeakMap<DirectAnswer, Form>();
  #inFlight = 0;

  /** Returns the answer as it is to be sent; a promise only while it is compressed in another thread. */
  encode(answer: DirectAnswer, acceptEncoding: string | null): Promise<DirectAnswer> | DirectAnswer {
    if (!isCompressible(answer) || acceptEncoding === null) return answer;
    const coding = chooseCoding(acceptEncoding, codings);
    // A client that refuses every form gets the plain one: its operation has been executed.
    if (coding === null || coding === 'identity') return vary(answer);
    const form = this.#forms.get(answer);
    if (form?.coding === coding) return form.answer;
    if (answer.body.length > maxInlineBytes && this.#inFlight >= maxInFlight) return vary(answer);
    const compressed = this.#compress(answer, coding);
    this.#forms.set(answer, { coding, answer: compressed });
    return compressed;
  }

  #compress(answer: DirectAnswer, coding: Compressed): Promise<DirectAnswer> | DirectAnswer {
    const { body } = answer;
    if (body.length <= maxInlineBytes) return toForm(answer, coding, compressInline[coding](body));
    this.#inFlight += 1;
    return compressInThread[coding](body)
      .then(
        (bytes) => toForm(answer, coding, bytes),
        () => vary(answer),
      )
      .finally(() => {
        this.#inFlight -= 1;
      });
  }
}

function toForm(answer: DirectAnswer, coding: Compressed, bytes: Buffer): DirectAnswer {
  if (bytes.length >= answer.body.length) return vary(answer);
  const { headers } = vary(answer);
  return { ...answer, headers: [...headers, 'content-encoding', coding], body: copyAlone(bytes) };
}

/** The header says that another client may get another form. */
function vary(answer: DirectAnswer): DirectAnswer {
  return { ...answer, headers: [...answer.headers, 'vary', 'accept-encoding'] };
}
