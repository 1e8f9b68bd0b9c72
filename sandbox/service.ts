import type { IncomingMessage } from 'node:http';
import type { Save } from './state-file.ts';
import type { Announcer } from './webhooks/announcer.ts';
import type { Clock } from './world/clock.ts';
import type { World } from './world/world.ts';

/** The parts that the routes use. */
export interface Service {
  readonly world: World;
  readonly clock: Clock;
  readonly announcer: Announcer;
  /** Settles when all changes so far would survive kill -9; a change is answered only after it. */
  readonly save: Save;
  /** How many times faster than real time retries and simulated delays run. */
  readonly speed: number;
  /** Aborted when the sandbox closes. */
  readonly closing: AbortSignal;
  /** Registers work that continues after its answer. */
  readonly track: (work: Promise<unknown>) => void;
  /** The origin of portal pages for a browser. */
  readonly originOf: (request: Request) => string;
}

/** Bindings of a route: the socket's message where the sandbox listens, nothing with plain `fetch`. */
export interface SandboxEnv {
  readonly Bindings: { readonly incoming?: IncomingMessage };
}
