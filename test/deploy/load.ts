import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { gatewayKey } from '../support/lab.ts';

/** On a machine that is too busy for 200 a second fewer are sent: thousands that wait would fail for other reasons. */
const maxUnanswered = 50;

/** Up to 200 queries a second, each a POST, until it is ended. */
export class Load implements AsyncDisposable {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #unanswered = new Set<Promise<void>>();
  readonly #sending: Promise<void>;
  #isOver = false;
  sent = 0;
  readonly failed: string[] = [];

  constructor(url: string, queries: readonly string[]) {
    this.#sending = this.#send(url, queries);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#sending;
    await Promise.all(this.#unanswered);
    this.#agent.destroy();
  }

  async #send(url: string, queries: readonly string[]): Promise<void> {
    while (!this.#isOver) {
      await setTimeout(5);
      if (this.#unanswered.size === maxUnanswered) continue;
      const asked = this.#ask(url, queries[this.sent % queries.length] ?? '');
      this.sent += 1;
      this.#unanswered.add(asked);
      void asked.then(() => this.#unanswered.delete(asked));
    }
  }

  async #ask(url: string, query: string): Promise<void> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${gatewayKey}` };
    const asking = request(`${url}/graphql`, { method: 'POST', agent: this.#agent, headers });
    asking.end(JSON.stringify({ query }));
    try {
      const [answer] = await once(asking, 'response');
      const text = Buffer.concat(await answer.toArray()).toString();
      if (answer.statusCode !== 200 || !text.startsWith('{"data"')) this.failed.push(text);
    } catch (error) {
      this.failed.push(String(error));
    }
  }
}
