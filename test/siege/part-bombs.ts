import { openConnection, type Target } from './connections.ts';

export interface PartBombOptions extends Target {
  /** A gateway key, or a token that may upload. */
  readonly token: string;
  /** How large each body claims to be, and is when it is read to its end. */
  readonly bytes: number;
}

export interface PartBombReport {
  readonly name: string;
  /** Of the answer; null when there was none before the end. */
  readonly status: number | null;
  /** Of the body, as many as were sent before the answer came. */
  readonly sentBytes: number;
}

const boundary = 'part-bomb';
const longBoundary = 'a'.repeat(70);
const header = 'content-disposition: form-data; name="a"\r\n';

interface PartBomb {
  readonly boundary: string;
  /** The text before the pieces. */
  readonly start: string;
  readonly piece: string;
}

/** Bodies that consist of one piece over and over: each makes much work out of few bytes. */
export const partBombs: Readonly<Record<string, PartBomb>> = {
  'empty parts': { boundary, start: '', piece: `--${boundary}\r\n\r\n\r\n` },
  'boundaries alone': { boundary, start: '', piece: `--${boundary}\r\n` },
  'parts of headers alone': { boundary, start: '', piece: `--${boundary}\r\n${header}\r\n\r\n` },
  'parts without an end of their headers': { boundary, start: '', piece: `--${boundary}\r\n${header}` },
  'headers without an end': { boundary, start: `--${boundary}\r\n`, piece: header },
  'small files': {
    boundary,
    start: '',
    piece: `--${boundary}\r\ncontent-disposition: form-data; name="a"; filename="a"\r\n\r\n.\r\n`,
  },
  'parameters without an end': {
    boundary,
    start: '',
    piece: `--${boundary}\r\ncontent-disposition: form-data${'; a="\\"b'.repeat(1000)}\r\n\r\n`,
  },
  'bytes before the first part': { boundary: longBoundary, start: '', piece: 'a'.repeat(4096) },
  'all but a boundary': {
    boundary: longBoundary,
    start: '',
    piece: `\r\n--${longBoundary.slice(1)}b`,
  },
};

/** Sends a multipart body of each kind, one after the other. */
export async function sendPartBombs(options: PartBombOptions): Promise<readonly PartBombReport[]> {
  const reports: PartBombReport[] = [];
  for (const [name, bomb] of Object.entries(partBombs)) {
    reports.push({ name, ...(await sendPartBomb(options, bomb)) });
  }
  return reports;
}

/** Sends one until it is answered. */
async function sendPartBomb(options: PartBombOptions, bomb: PartBomb): Promise<Omit<PartBombReport, 'name'>> {
  const { url, token, bytes } = options;
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const socket = openConnection(options);
  socket.once('data', (answer: Buffer) => resolve(Number(answer.toString('latin1', 9, 12))));
  socket.once('close', () => resolve(null));
  socket.write(
    [
      'POST /graphql HTTP/1.1',
      `host: ${new URL(url).host}`,
      `authorization: Bearer ${token}`,
      `content-type: multipart/form-data; boundary=${bomb.boundary}`,
      `content-length: ${bytes}\r\n\r\n`,
    ].join('\r\n'),
  );
  const chunk = Buffer.from(bomb.piece.repeat(Math.ceil(65_536 / bomb.piece.length)));
  let sentBytes = 0;
  const send = () => {
    while (sentBytes < bytes && socket.writable) {
      const next = sentBytes === 0 ? Buffer.concat([Buffer.from(bomb.start), chunk]) : chunk;
      const part = next.subarray(0, bytes - sentBytes);
      sentBytes += part.length;
      if (!socket.write(part)) return void socket.once('drain', send);
    }
  };
  send();
  const status = await promise;
  socket.destroy();
  return { status, sentBytes };
}
