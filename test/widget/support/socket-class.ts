import { FakeSocket, type SocketServer } from '../../../widget/src/testing/fake-socket.ts';

/** A class to replace WebSocket on the whole page: every socket of it talks to this server. */
export function createFakeSocketClass(server: SocketServer): typeof WebSocket {
  return class extends FakeSocket {
    constructor(url: string | URL) {
      super(String(url), server);
    }
  } as unknown as typeof WebSocket;
}
