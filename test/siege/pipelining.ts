import { describeRequest, type GraphQLRequest, openConnection, type Target } from './connections.ts';

export interface PipeliningOptions extends Target {
  readonly connections: number;
  /** Requests that each connection sends at once, one behind the other. */
  readonly requests: number;
  readonly ask: { readonly path: string } | GraphQLRequest;
}

export interface PipeliningReport {
  readonly sent: number;
  readonly answered: number;
  /** Connections that ended before each of their requests was answered. */
  readonly cut: number;
}

/** Sends many requests at once over each connection and reads the answers; resolves when all are there or have ended. */
export async function pipeline(options: PipeliningOptions): Promise<PipeliningReport> {
  const { url, ask, connections, requests } = options;
  const bytes = Buffer.from(describeRequest(url, ask).repeat(requests));
  const answers = await Promise.all(
    Array.from({ length: connections }, () => countAnswers({ ...options, requests }, bytes)),
  );
  return {
    sent: connections * requests,
    answered: answers.reduce((sum, count) => sum + count, 0),
    cut: answers.filter((count) => count < requests).length,
  };
}

const statusLine = 'HTTP/1.1 ';

function countAnswers(target: Target & { readonly requests: number }, bytes: Buffer): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const socket = openConnection(target);
  let answers = 0;
  let tail = '';
  socket.write(bytes);
  socket.on('data', (chunk: Buffer) => {
    const text = tail + chunk.toString('latin1');
    answers += text.split(statusLine).length - 1;
    // A status line may come in two pieces.
    tail = text.slice(-(statusLine.length - 1));
    if (answers >= target.requests) socket.destroy();
  });
  socket.once('close', () => resolve(answers));
  return promise;
}
