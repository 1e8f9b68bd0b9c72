import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';

/** Texts and files of a multipart form by the names of their parts; of equal names the first counts. */
export type MultipartForm = ReadonlyMap<string, string | File>;

export interface MultipartLimits {
  /** A longer text is ignored. */
  readonly textBytes: number;
  readonly parts: number;
  /** Total of all bytes except file contents: texts, headers, boundaries, preamble and epilogue. */
  readonly besideFilesBytes: number;
}

/** Thrown when a form exceeds its limits; the rest of it is not read. */
export class MultipartLimitError extends Error {}

/** Enough for a part's headers as in RFC 7578, with a long file name. */
const headerLimits = { headerPairs: 8, headerSize: 4096 } as const;

/** The parser makes all the parts of what it is given before it can be stopped: 64 KiB have room for thousands of empty ones. */
const sliceBytes = 4096;

function* sliceOf(chunk: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < chunk.byteLength; at += sliceBytes) yield chunk.subarray(at, at + sliceBytes);
}

/**
 * Parses a multipart form as it arrives and stops as soon as a limit is exceeded, so that a hostile body costs no more
 * than its first bytes.
 * @throws MultipartLimitError
 * @throws Error if it is not a multipart form
 */
export async function readMultipart(
  body: AsyncIterable<Uint8Array>,
  { contentType, limits }: { readonly contentType: string; readonly limits: MultipartLimits },
): Promise<MultipartForm> {
  const form = new Map<string, string | File>();
  const add = (name: string | undefined, content: string | File) => {
    if (name !== undefined && !form.has(name)) form.set(name, content);
  };
  let fileBytes = 0;
  const parser = new Busboy({
    headers: { 'content-type': contentType },
    limits: { ...headerLimits, parts: limits.parts, fieldSize: limits.textBytes },
    isPartAFile: (_name, _type, fileName) => fileName !== undefined,
  });
  parser.on('partsLimit', () => parser.destroy(new MultipartLimitError('The form has too many parts.')));
  parser.on('field', (name, text, _isNameCut, isCut) => {
    if (!isCut) add(name, text);
  });
  parser.on('file', (name, stream, fileName, _encoding, type) => {
    const chunks: Buffer<ArrayBuffer>[] = [];
    stream.on('data', (chunk: Buffer<ArrayBuffer>) => {
      chunks.push(chunk);
      fileBytes += chunk.length;
    });
    stream.once('end', () => add(name, new File(chunks, fileName, { type })));
    // The parser reports the same error.
    stream.once('error', () => {});
  });
  const limited = async function* () {
    let received = 0;
    for await (const chunk of body) {
      // Earlier chunks are parsed by now, except for bytes buffered in the streams between.
      if (received - fileBytes > limits.besideFilesBytes)
        throw new MultipartLimitError('The form has too many bytes outside its files.');
      received += chunk.byteLength;
      yield* sliceOf(chunk);
    }
  };
  await pipeline(limited, parser);
  return form;
}
