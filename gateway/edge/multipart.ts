import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';

/** What a multipart form says: texts and files by the names of their parts, the first of each name. */
export type MultipartForm = ReadonlyMap<string, string | File>;

export interface MultipartLimits {
  /** A longer text is left out. */
  readonly textBytes: number;
  readonly parts: number;
  /** Everything but the contents of files, in all: texts, headers, boundaries and what stands around the parts. */
  readonly besideFilesBytes: number;
}

/** Thrown when a form has more than its limits allow; the rest of it is not read. */
export class MultipartLimitError extends Error {}

/** As RFC 7578 writes a part's headers, with room for a long file name. */
const headerLimits = { headerPairs: 8, headerSize: 4096 } as const;

/**
 * Reads a multipart form as it comes. Ends as soon as a limit is passed, so that a body made to be costly costs no more than
 * its first bytes.
 * @throws MultipartLimitError
 * @throws Error where it cannot be read as a form
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
    // Told by the parser as well.
    stream.once('error', () => {});
  });
  const limited = async function* () {
    let received = 0;
    for await (const chunk of body) {
      // What came before is parsed by now, but for what the streams between hold.
      if (received - fileBytes > limits.besideFilesBytes)
        throw new MultipartLimitError('The form has too much beside its files.');
      received += chunk.byteLength;
      yield chunk;
    }
  };
  await pipeline(limited, parser);
  return form;
}
