import { once } from 'node:events';
import { request } from 'undici';
import { WebSocket } from 'ws';
import { openEventStream } from '../../support/event-stream.ts';
import { pageOrigin } from '../../support/launch.ts';
import { type Operation, operationRequest } from '../mutations/ask.ts';

export interface Question extends Operation {
  readonly token: string;
}

/** Sends one operation and returns all that comes back, as it came: of a stream, until its first item or its end. */
export type Wire = (url: string, question: Question) => Promise<string>;

const overHttp: Wire = async (url, { token, ...operation }) => {
  const request = operationRequest(url, operation, token);
  request.headers.set('origin', pageOrigin);
  const response = await fetch(request);
  return `${response.status} ${await response.text()}`;
};

const overSse: Wire = async (url, question) => {
  const stream = await openEventStream({ url, origin: pageOrigin, ...question });
  const frame = await stream.next();
  stream.leave();
  return `${stream.status} ${JSON.stringify(frame)}`;
};

const overMultipart: Wire = async (url, { token, query, variables }) => {
  const { statusCode, body } = await request(`${url}/graphql`, {
    method: 'POST',
    headers: {
      accept: 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      origin: pageOrigin,
    },
    body: JSON.stringify({ query, variables }),
  });
  let text = '';
  for await (const chunk of body.setEncoding('utf8')) {
    text += chunk;
    if (/"payload".*\r\n--graphql/.test(text)) break;
  }
  return `${statusCode} ${text}`;
};

const overWebSocket: Wire = async (url, { token, query, variables }) => {
  const address = `${url.replace('http', 'ws')}/graphql`;
  const socket = new WebSocket(address, 'graphql-transport-ws', { origin: pageOrigin });
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on('close', (code) => resolve(`closed with ${code}`));
  socket.on('message', (data) => {
    const text = String(data);
    if (!text.includes('connection_ack')) return resolve(text);
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables } }));
  });
  await once(socket, 'open');
  const payload = { authorization: `Bearer ${token}` };
  socket.send(JSON.stringify({ type: 'connection_init', payload }));
  const answer = await promise;
  socket.terminate();
  return answer;
};

const all: readonly (readonly [string, Wire])[] = [
  ['HTTP', overHttp],
  ['SSE', overSse],
  ['multipart', overMultipart],
  ['WebSocket', overWebSocket],
];

/** The ways an operation of this field can travel. */
export function wiresFor(field: string, variables: Readonly<Record<string, unknown>>) {
  const { input } = variables;
  const hasFiles = typeof input === 'object' && input !== null && 'files' in input;
  return all.filter(([name]) => {
    if (hasFiles) return name === 'HTTP';
    const isStream = field.startsWith('Subscription.');
    return name === 'HTTP' ? !isStream : name !== 'multipart' || isStream;
  });
}
