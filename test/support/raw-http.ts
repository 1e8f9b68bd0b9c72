import { connect } from 'node:net';

/** Asked behind each request: whether it is answered shows what has become of the connection. */
const farewell = 'GET /health HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n';

/** A server that leaves a connection alone for so long has forgotten it: it gives nobody more than 10 s. */
const silenceMs = 30_000;

/**
 * Everything that a server answers to these bytes until it closes the connection, as Latin-1: each character is a byte. A
 * server that goes on is asked once more when its answer comes.
 */
export function sendRaw(url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('data', (chunk) => {
      const isFirst = chunks.push(Buffer.from(chunk)) === 1;
      if (isFirst && !/\r\nconnection: close\r\n/i.test(chunk.toString('latin1'))) socket.write(farewell);
    });
    // A server that has answered and closes does not wait for what else was sent.
    socket.on('error', () => {});
    socket.setTimeout(silenceMs, () => {
      chunks.push(Buffer.from('(no end)'));
      socket.destroy();
    });
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    socket.write(bytes);
  });
}

const heads = /HTTP\/1\.1 \d{3}[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n/g;

/** The same bytes with the headers of each answer in order, under names in small letters, without the date and random ids. */
export function compareForm(answer: string): string {
  return answer
    .replace(heads, (head) => {
      const [status, ...lines] = head.trimEnd().split('\r\n');
      const headers = lines.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()));
      return [
        status,
        ...headers.filter((line) => !/^(date|x-request-id):/.test(line)).toSorted(),
        '',
        '',
      ].join('\r\n');
    })
    .replace(/"requestId":"[\w-]+"/g, '"requestId":""');
}
