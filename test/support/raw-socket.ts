import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A WebSocket client that does nothing by itself: it answers no close and no ping, and reads nothing when paused. */
export interface RawSocket {
  readonly connection: Socket;
  /** Sends a text message; false when the other side has not taken what was sent before. */
  readonly send: (message: string) => boolean;
  /** Resolves with the code of the close that the other side has sent. */
  readonly goodbye: Promise<number>;
}

const text = 0x81;
const closing = 0x88;

/** Opens a socket that speaks `graphql-transport-ws`. */
export async function openRawSocket(url: string): Promise<RawSocket> {
  const { hostname, port, host } = new URL(url);
  const connection = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  connection.on('error', () => {});
  connection.write(
    [
      'GET /graphql HTTP/1.1',
      `host: ${host}`,
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      `sec-websocket-key: ${Buffer.alloc(16).toString('base64')}`,
      'sec-websocket-protocol: graphql-transport-ws\r\n\r\n',
    ].join('\r\n'),
  );
  await once(connection, 'data');
  return {
    connection,
    send: (message) => connection.write(frame(Buffer.from(message))),
    goodbye: readGoodbye(connection),
  };
}

/** A text frame under a mask of zeros, of 126 bytes or more up to 2 GB. */
function frame(payload: Buffer): Buffer {
  const head = Buffer.alloc(14);
  head.set([text, 0x80 | 127]);
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

/** Frames come one by one here: the gateway sends each on its own, and few of them. */
async function readGoodbye(connection: Socket): Promise<number> {
  for (;;) {
    const [bytes]: Buffer[] = await once(connection, 'data');
    const at = bytes?.indexOf(closing) ?? -1;
    if (bytes !== undefined && at >= 0) return bytes.readUInt16BE(at + 2);
  }
}
