import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { constants, createContext, runInContext } from 'node:vm';
import type { createLabgraphClient } from '@labgraph/client';
import type { encodeFiles } from '@labgraph/client/files';
import { WebSocket } from 'ws';

/** A part of React Native's FormData, as it is given to the native side. */
interface Part {
  readonly headers: readonly (readonly [string, string])[];
  readonly string?: string;
  readonly uri?: string;
}

interface BlobPlace {
  readonly blobId: string;
  readonly offset: number;
  readonly size: number;
}

/** What `app.js` has. */
interface App {
  readonly createLabgraphClient: typeof createLabgraphClient;
  readonly encodeFiles: typeof encodeFiles;
  readonly AbortController: typeof AbortController;
}

/** The globals of the app: its own, and what React Native defines for its native side. */
interface Globals {
  readonly app: App;
  readonly __rctDeviceEventEmitter: { readonly emit: Emit };
}

/** An app on a telephone. */
export interface Phone {
  readonly app: App;
  /** The files that an app may send, by their uri. */
  readonly files: Map<string, Buffer>;
  /** The Origin of each WebSocket, as Android's module sets it. */
  readonly origins: string[];
  /** Ends every connection, as a telephone does in a tunnel. */
  readonly loseNetwork: () => void;
}

/** Runs a bundle of Metro. Its JavaScript is React Native's; of the native side, which is Java, only what the app uses is here. */
export function startPhone(bundle: string): Phone {
  const globals = createContext(constants.DONT_CONTEXTIFY) as Globals;
  const files = new Map<string, Buffer>();
  const origins: string[] = [];
  const sockets = new Map<number, WebSocket>();
  const emit: Emit = (name, value) => setImmediate(() => globals.__rctDeviceEventEmitter.emit(name, value));
  const listening = { addListener: () => {}, removeListeners: () => {} };
  const blobs = new Map<string, Buffer>();
  const modules: Readonly<Record<string, object>> = {
    PlatformConstants: {
      getConstants: () => ({ reactNativeVersion: { major: 0, minor: 86, patch: 3 }, isTesting: false }),
    },
    Networking: { ...listening, ...createNetworking({ emit, blobs, files }) },
    BlobModule: {
      getConstants: () => ({ BLOB_URI_SCHEME: 'content', BLOB_URI_HOST: null }),
      addNetworkingHandler: () => {},
      createFromParts: (parts: readonly { readonly data: string }[], id: string) =>
        blobs.set(id, Buffer.from(parts.map(({ data }) => data).join(''))),
      release: (id: string) => blobs.delete(id),
    },
    FileReaderModule: {
      readAsText: async ({ blobId, offset, size }: BlobPlace) =>
        blobs
          .get(blobId)
          ?.subarray(offset, offset + size)
          .toString(),
    },
    WebSocketModule: { ...listening, ...createSockets({ emit, sockets, origins }) },
  };
  Object.assign(globals, {
    global: globals,
    window: globals,
    self: globals,
    ...{ console, performance, queueMicrotask, TextEncoder },
    ...{ setTimeout, clearTimeout, setInterval, clearInterval, setImmediate },
    __turboModuleProxy: (name: string) => modules[name] ?? null,
    __fbBatchedBridgeConfig: { remoteModuleConfig: [] },
  });
  runInContext(readFileSync(bundle, 'utf8'), globals);
  return {
    app: globals.app,
    files,
    origins,
    loseNetwork: () => {
      for (const socket of sockets.values()) socket.terminate();
    },
  };
}

type Emit = (name: string, value: unknown) => void;

interface Networking {
  readonly emit: Emit;
  readonly blobs: Map<string, Buffer>;
  readonly files: ReadonlyMap<string, Buffer>;
}

function createNetworking({ emit, blobs, files }: Networking) {
  const requests = new Map<number, ClientRequest>();
  return {
    sendRequest: (
      method: string,
      url: string,
      id: number,
      headers: readonly (readonly [string, string])[],
      { string, formData }: { readonly string?: string; readonly formData?: readonly Part[] },
    ) => {
      const form = formData === undefined ? null : encode(formData, files);
      const asked = request(url, { method, headers: { ...Object.fromEntries(headers), ...form?.headers } });
      const ended = (error: unknown) =>
        emit('didCompleteNetworkResponse', [id, error && String(error), false]);
      asked.on('error', ended);
      asked.on('response', async (response) => {
        emit('didReceiveNetworkResponse', [id, response.statusCode, { ...response.headers }, url]);
        const blobId = randomUUID();
        // The whole answer: what is streamed is seen at its end.
        const body = await buffer(response).catch(ended);
        if (body === undefined) return;
        blobs.set(blobId, body);
        emit('didReceiveNetworkData', [id, { blobId, offset: 0, size: body.length }]);
        ended(null);
      });
      requests.set(id, asked);
      asked.end(form?.body ?? string);
    },
    abortRequest: (id: number) => requests.get(id)?.destroy(new Error('Canceled')),
  };
}

/** A form as OkHttp sends it: the parts with the headers that JavaScript gave them. */
function encode(parts: readonly Part[], files: ReadonlyMap<string, Buffer>) {
  const boundary = randomUUID();
  const body = Buffer.concat([
    ...parts.flatMap(({ headers, string = '', uri }) => [
      Buffer.from(`--${boundary}\r\n${headers.map((header) => header.join(': ')).join('\r\n')}\r\n\r\n`),
      uri === undefined ? Buffer.from(string) : (files.get(uri) ?? Buffer.from('')),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  return { body, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } };
}

interface Sockets {
  readonly emit: Emit;
  readonly sockets: Map<number, WebSocket>;
  readonly origins: string[];
}

function createSockets({ emit, sockets, origins }: Sockets) {
  return {
    connect: (
      url: string,
      protocols: string[] | null,
      { headers }: { readonly headers: object },
      id: number,
    ) => {
      // As WebSocketModule.kt has it (getDefaultOrigin).
      const origin = new URL(url.replace('ws', 'http')).origin;
      origins.push(origin);
      const socket = new WebSocket(url, protocols ?? [], { headers: { origin, ...headers } });
      sockets.set(id, socket);
      const failed = (message: string) => emit('websocketFailed', { id, message });
      socket.on('open', () => emit('websocketOpen', { id, protocol: socket.protocol }));
      socket.on('message', (data) => emit('websocketMessage', { id, type: 'text', data: String(data) }));
      socket.on('error', ({ message }) => failed(message));
      socket.on('close', (code, reason) => {
        if (code === 1006) failed('Software caused connection abort');
        else emit('websocketClosed', { id, code, reason: String(reason) });
      });
    },
    send: (message: string, id: number) => sockets.get(id)?.send(message),
    close: (code: number, reason: string, id: number) => sockets.get(id)?.close(code, reason),
  };
}
