import type { Caller, OnAccess, Rights } from '../auth/rights.ts';
import { listOrders, ordersPath } from '../domain/order/read/rest.ts';
import { listUsers } from '../domain/user/rest.ts';
import type { Upstream } from '../service/client.ts';
import type { bindService, Service } from '../service/service.ts';
import type { Asked } from '../service/trace.ts';
import type { Core } from './core.ts';
import { teamMark } from './webhook-readers.ts';

/** Probes need their answer soon, however slow the service is. */
const probeMs = 2000;
/** Time from a failed attempt to learn the team to the next. */
const teamRetryMs = 10_000;

export interface ServicesParts {
  readonly upstream: Upstream;
  readonly createRights: (caller: Caller, onAccess?: OnAccess) => Rights;
  readonly bindService: typeof bindService;
}

interface Binding {
  readonly caller: Caller;
  /** Aborts the calls. */
  readonly signal: AbortSignal;
  readonly onAccess: OnAccess | undefined;
}

/** The service as each caller, and the gateway itself, may use it. Every answer names the team. */
export class Services {
  readonly #core: Core;
  readonly #parts: ServicesParts;
  #teamId: string | null;
  #asking: Promise<unknown> | null = null;

  constructor(core: Core, parts: ServicesParts) {
    this.#core = core;
    this.#parts = parts;
    this.#teamId = core.config.teamId;
  }

  /** As configured, otherwise as the service's first answer named it. */
  get teamId(): string | null {
    return this.#teamId;
  }

  bind(to: Asked, { caller, signal, onAccess }: Binding): Service {
    return this.#parts.bindService(to, {
      rights: this.#parts.createRights(caller, onAccess),
      paths: { [ordersPath]: this.#core.config.ordersPath },
      signal,
      onTeam: (id) => this.#noteTeam(id),
      onUnreadable: this.#core.metrics.countUnreadable,
    });
  }

  /** The service as the gateway itself uses it, not on behalf of a caller. */
  bindOwn(signal: AbortSignal): Service {
    return this.bind(this.#parts.upstream, { caller: { kind: 'TEAM' }, signal, onAccess: undefined });
  }

  /** Whether the service answers, within two seconds, both lists that everything starts from. */
  async isReachable(): Promise<boolean> {
    return await this.#probe((service) =>
      Promise.all([
        listUsers(service, { offset: 0, limit: 1 }),
        listOrders(service, {}, { page: 1, size: 1 }),
      ]),
    );
  }

  /**
   * The team whose events are delivered. Asks the service if no answer has named it yet; while the service does not answer,
   * the team that an earlier run learned counts. Null if nobody knows it: a signed event is then taken as ours.
   */
  async learnTeam(): Promise<string | null> {
    if (this.#teamId === null) await this.#askForTeam();
    // Not assigned to `#teamId`: the service's first answer may correct it.
    return this.#teamId ?? (await this.#core.store.log.readMark(teamMark).catch(() => null));
  }

  #noteTeam(id: string): void {
    if (this.#teamId !== null) return;
    this.#teamId = id.toLowerCase();
    // For commands, and for a start while the service is away. If the log cannot be written now, the next start writes it.
    this.#core.store.log.writeMark(teamMark, this.#teamId).catch(() => undefined);
  }

  /** One call at a time, and none for a while after it. */
  #askForTeam(): Promise<unknown> {
    this.#asking ??= this.#probe((service) => listUsers(service, { offset: 0, limit: 1 })).finally(() => {
      const forget = () => {
        this.#asking = null;
      };
      setTimeout(forget, teamRetryMs).unref();
    });
    return this.#asking;
  }

  async #probe(ask: (service: Service) => Promise<unknown>): Promise<boolean> {
    try {
      await ask(this.bindOwn(AbortSignal.timeout(probeMs)));
      return true;
    } catch {
      return false;
    }
  }
}
