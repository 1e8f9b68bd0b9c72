import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { Webhook } from 'standardwebhooks';

export interface FloodWork {
  readonly url: string;
  readonly secret: string;
  readonly count: number;
  readonly bodyBytes: number;
}

export interface FloodReport {
  /** The `index` of each message that was answered with 2xx. */
  readonly acknowledged: readonly number[];
  /** How many were answered with 503 and `retry-after`. */
  readonly turnedAway: number;
  /**
   * How many connections were cut: the server takes half a second more of a body it has refused, then closes, and
   * a client that still writes may get that error before it reads the 503. A message that has not arrived whole
   * after ten seconds, on a busy machine, is answered with 408. To a sender it is the same: not acknowledged.
   */
  readonly cut: number;
  /** What else was answered or went wrong. */
  readonly other: readonly string[];
}

// A thread of its own: on the gateway's event loop the flood would wait for the work it is meant to delay.
const { url, secret, count, bodyBytes }: FloodWork = workerData;
const webhook = new Webhook(secret);
const filler = 'x'.repeat(bodyBytes);

interface Post {
  readonly answer: Promise<string>;
  readonly finish: () => void;
}

/** Sends a message without its last byte. */
function begin(index: number): Post {
  const body = JSON.stringify({ event_type: 'of.flood', data: { index, filler } });
  const signedAt = new Date();
  const headers = {
    'content-length': body.length,
    'webhook-id': `flood_${index}`,
    'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1000)),
    'webhook-signature': webhook.sign(`flood_${index}`, signedAt, body),
  };
  const post = request(`${url}/webhooks`, { method: 'POST', headers, agent: false });
  const answer = readAnswer(post);
  post.write(body.slice(0, -1));
  return { answer, finish: () => post.end(body.slice(-1)) };
}

/** How long the gateway waits for a whole request. */
const requestMs = 10_000;

function readAnswer(post: ClientRequest): Promise<string> {
  const beganAt = performance.now();
  return new Promise((resolve) => {
    post.on('error', (error) => {
      const isCut = 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
      resolve(isCut ? 'cut' : `no answer: ${error.message}`);
    });
    post.on('response', (response: IncomingMessage) => {
      response.resume();
      const isLate = response.statusCode === 408 && performance.now() - beganAt >= requestMs;
      const hasHint = response.headers['retry-after'] !== undefined;
      resolve(isLate ? 'cut' : `${response.statusCode}${hasHint ? ' with retry-after' : ''}`);
    });
  });
}

const posts = Array.from({ length: count }, (_, index) => begin(index));
// None is whole yet, so the first answer turns one away: only then there was a flood.
await Promise.race(posts.map(({ answer }) => answer));
for (const { finish } of posts) finish();
const answers = await Promise.all(posts.map(({ answer }) => answer));
const report: FloodReport = {
  acknowledged: [...answers.keys()].filter((index) => answers[index] === '202'),
  turnedAway: answers.filter((answer) => answer === '503 with retry-after').length,
  cut: answers.filter((answer) => answer === 'cut').length,
  other: answers.filter((answer) => !['202', '503 with retry-after', 'cut'].includes(answer)),
};
parentPort?.postMessage(report);
