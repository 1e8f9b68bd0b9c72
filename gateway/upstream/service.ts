import { GatewayError, isGatewayError } from '../errors.ts';
import { type Account, createAccounts, type Kept, type OnAccess } from './access.ts';
import type { Guarded, Keepable, ReadFile, ReadOne, ReadPage, Write } from './calls.ts';
import type { ReadOptions, Upstream, UpstreamCall } from './client.ts';
import type { UpstreamFile } from './file.ts';
import { readOnceOf } from './read-once.ts';
import { restsOnOne, restsOnPage, touchedByWrite } from './resting.ts';
import { type OnUnreadable, readNoting, readOrRefuse } from './unreadable.ts';

/** Whose data an answer is: what the owner check compares with the caller. */
export interface Subject {
  readonly userId: string | null;
  readonly orderId?: string | null;
  readonly teamId?: string | null;
}

/** What a caller may do and see. Made by caller/access.ts; this is all that a read asks of it. */
export interface Rights {
  /** Callers with equal keys may see exactly the same. */
  readonly key: string;
  readonly allows: (scope: Scope) => boolean;
  readonly owns: (subject: Subject) => boolean;
  /** The one user whose things the caller may see; null for callers of the whole team. */
  readonly userId: string | null;
  /** The only orders the caller may see; null for all orders of that user. */
  readonly orderIds: readonly string[] | null;
}

/** What a viewer token can be allowed to do; server-side callers may do everything. */
export const scopes = [
  'read:orders',
  'read:profile',
  'read:health',
  'read:catalogue',
  'read:results',
  'launch:portal',
  'write:orders',
  'write:appointments',
  'simulate:orders',
  'write:profile',
  'write:lab-reports',
] as const;
export type Scope = (typeof scopes)[number];

/** What a token may do that says nothing of it: what the widget needs, status and launch. */
export const defaultScopes: readonly Scope[] = ['read:orders', 'launch:portal'];

/** Scopes for what belongs to a whole user and to no order: nothing for a token that is limited to some orders. */
export const scopesOfUser: readonly Scope[] = [
  'read:profile',
  'read:health',
  'write:profile',
  'write:lab-reports',
];

/** One page of a list, as any of the service's paging styles gives it. */
export interface Page<Row> {
  /** In the service's order. Null stands for a row that is unreadable or not the caller's, so places stay right. */
  readonly rows: readonly (Row | null)[];
  readonly total: number | null;
  readonly pages: number | null;
  readonly nextCursor: string | null;
  /** Where in the whole list the first row stands, as far as the answer says. */
  readonly from: number | null;
  /** Whether rows came that lie beyond the bound that was asked for: the service knows no such bound. */
  readonly ignoresBound?: boolean;
  /** Whether it was kept of an earlier read: it may be shown, and nobody may act on it. */
  readonly isKept?: boolean;
}

/** The service as one caller may use it. Every access to somebody's data is told to the audit trail here. */
export interface Service {
  /** The thing, or null when it does not exist or is not the caller's: the two are told apart nowhere. */
  readonly readOne: <T>(read: ReadOne<T>) => Promise<T | null>;
  readonly readPage: <Row>(read: ReadPage<Row>) => Promise<Page<Row>>;
  /** The file, or null when it does not exist or is not the caller's. Read it or cancel it: it holds a connection. */
  readonly readFile: (read: ReadFile) => Promise<UpstreamFile | null>;
  /**
   * The answer, or null when what it is about does not exist or is not the caller's.
   * @throws GatewayError that says whether it may have been done (`mayBeDone`)
   */
  readonly write: <T>(write: Write<T>) => Promise<T | null>;
  /**
   * The same service for whoever only shows what it reads: an answer may have been kept of an earlier read
   * (`ReadOne.keeping`). Whoever acts on what it reads, or reads more by it, uses the service itself.
   */
  readonly forShowing: Service;
  readonly rights: Rights;
  /** Whether something about somebody may begin; what then comes of it is told by whoever does it. */
  readonly mayBegin: (kept: Kept) => boolean;
  /** Whether what the gateway keeps may be shown. */
  readonly mayShow: (kept: Kept) => boolean;
  /** @throws GatewayError FORBIDDEN when the caller's token lacks the scope */
  readonly require: (scope: Scope) => void;
  /** Where the service lists orders: `/orders` in the specification, `/v3/orders` in the public service. */
  readonly ordersPath: string;
}

export interface ServiceOptions {
  readonly rights: Rights;
  readonly ordersPath: string;
  readonly signal?: AbortSignal | undefined;
  /** Whether answers that were kept will do. */
  readonly takesKept?: boolean;
  /** Told the team that an answer names. */
  readonly onTeam?: (teamId: string) => void;
  /** Told of every access to somebody's data; left out for the gateway itself. */
  readonly onAccess?: OnAccess;
  /** Told of rows that a reader left out and of answers that it refused. */
  readonly onUnreadable?: (operation: string, ...found: Parameters<OnUnreadable>) => void;
}

export const emptyPage: Page<never> = { rows: [], total: 0, pages: 0, nextCursor: null, from: null };

/**
 * Binds the service to one caller. This is the one place where what the service returned is compared with
 * who asks: the team key can read every user, so nothing leaves here unchecked, and a read cannot be written
 * down without saying who owns its answer.
 */
export function bindService(upstream: Upstream, options: ServiceOptions): Service {
  const { rights, signal, onTeam, ordersPath, onAccess } = options;

  const require = (scope: Scope) => {
    if (rights.allows(scope)) return;
    onAccess?.({ kind: `scope ${scope}`, userId: rights.userId, outcome: 'refused' });
    const whole = scopesOfUser.includes(scope) ? ', not limited to some orders' : '';
    throw new GatewayError('FORBIDDEN', `This needs a token with the scope ${scope}${whole}.`);
  };
  const accountOf = createAccounts(onAccess);
  const mayBegin = (kept: Kept): boolean => {
    if (rights.owns(kept.about)) return true;
    accountOf(kept.as, kept).tell('refused');
    return false;
  };
  const mayAsk = ({ scope, about }: Guarded & { readonly about?: Subject }, account: Account): boolean => {
    if (scope !== null) require(scope);
    if (about === undefined || rights.owns(about)) return true;
    account.tell('refused');
    return false;
  };
  /** Whose it is, where the answer says so. */
  const subjectOf = <T>(owner: 'anyone' | ((thing: T) => Subject), thing: T): Subject | null => {
    if (owner === 'anyone') return null;
    const subject = owner(thing);
    if (subject.teamId) onTeam?.(subject.teamId);
    return subject;
  };
  const owns = (subject: Subject | null) => subject === null || rights.owns(subject);

  const readWith = <T>(call: UpstreamCall & { readonly reader: (json: unknown) => T }, json: unknown): T =>
    readOrRefuse(() =>
      readNoting(readOnceOf(call.reader), json, (path, rows) =>
        options.onUnreadable?.(call.operation, path, rows),
      ),
    );

  const ask = (read: Keepable, more: Partial<ReadOptions>) => {
    const { keeping } = read;
    const isForAll = keeping === 'for-a-time';
    return upstream.read(read, {
      rights: isForAll ? 'anyone' : rights.key,
      signal,
      takesKept: keeping !== undefined && (options.takesKept ?? false),
      followsNews: !isForAll,
      ...(keeping === undefined ? {} : more),
    });
  };
  /** What is of somebody else counts as unreadable: it says nothing of what was written. */
  const readOwn =
    <T>(write: Write<T>) =>
    (json: unknown): T => {
      const thing = write.reader(json);
      if (owns(subjectOf(write.owner, thing)) && isOf(write, thing)) return thing;
      throw new GatewayError('UPSTREAM_UNREADABLE', 'The service answered about something else.', {
        status: 200,
      });
    };

  let forShowing: Service | null = null;
  return {
    require,
    ordersPath,
    rights,
    get forShowing() {
      forShowing ??= options.takesKept ? this : bindService(upstream, { ...options, takesKept: true });
      return forShowing;
    },
    mayBegin,
    mayShow: (kept) => {
      const isMine = mayBegin(kept);
      if (isMine) accountOf(kept.as, kept).tell('ok');
      return isMine;
    },
    readOne: async (read) => {
      const account = accountOf('read', read);
      if (!mayAsk(read, account)) return null;
      return await account.around(async () => {
        const json = await ask(read, {
          restsOn: (answer) => restsOnOne(read, readWith(read, answer), rights),
        });
        if (json === undefined) return account.tellMissing();
        const thing = readWith(read, json);
        const subject = subjectOf(read.owner, thing);
        account.tell(owns(subject) ? 'ok' : 'refused', subject?.userId);
        return owns(subject) ? thing : null;
      });
    },
    readPage: async (read) => {
      const account = accountOf('read', read);
      if (!mayAsk(read, account)) return emptyPage;
      return await account.around(async () => {
        let isKept = false;
        const json = await ask(read, {
          restsOn: (answer) => restsOnPage(read, readWith(read, answer)),
          onAnswered: (by) => {
            isKept = by === 'kept';
          },
        });
        if (json === undefined) return account.tellMissing() ?? emptyPageOf(read);
        if (read.about) account.tell('ok');
        // Rows of others that a service listed unasked were nobody's wish: they are left out, and no access.
        const page = readWith(read, json);
        const own = keepRows(read.refine?.(page) ?? page, (row) => {
          const subject = subjectOf(read.owner, row);
          if (!owns(subject)) return false;
          if (subject !== null) account.tell('ok', subject.userId);
          return true;
        });
        return isKept ? { ...own, isKept } : own;
      });
    },
    readFile: async (read) => {
      const account = accountOf('file', read);
      if (!mayAsk(read, account)) return null;
      return await account.around(async () => {
        const file = await upstream.open(read, { accept: read.accept, signal });
        if (file === undefined) return account.tellMissing();
        account.tell('ok');
        return file;
      });
    },
    write: async (write) => {
      const account = accountOf('write', write);
      if (!mayAsk(write, account)) return null;
      try {
        return await account.around(async () => {
          const json = await upstream.write(write, { touches: (answer) => touchedByWrite(write, answer) });
          if (json === undefined) return account.tellMissing();
          const thing = readWith({ ...write, reader: readOwn(write) }, json);
          account.tell('ok', write.about.userId ?? subjectOf(write.owner, thing)?.userId ?? null);
          return thing;
        });
      } catch (error) {
        throw isGatewayError(error) ? error.withOutcome(mayBeDone(error)) : error;
      }
    },
  };
}

/** Empties the places of rows that do not belong; a total that counted them would tell of them, so it goes too. */
export function keepRows<Row>(page: Page<Row>, belongs: (row: Row) => boolean): Page<Row> {
  if (page.rows.every((row) => row === null || belongs(row))) return page;
  return { ...page, rows: page.rows.map((row) => (row !== null && belongs(row) ? row : null)), total: null };
}

/** Whether the answer is of the user and the order that were written about, as far as it says. */
function isOf<T>({ owner, about }: Write<T>, thing: T): boolean {
  if (owner === 'anyone') return true;
  const subject = owner(thing);
  return isSameId(subject.userId, about.userId) && isSameId(subject.orderId, about.orderId);
}

function isSameId(shown: string | null | undefined, asked: string | null | undefined): boolean {
  return !shown || !asked || shown.toLowerCase() === asked.toLowerCase();
}

/** A refusal says that nothing was done, and so does a call that never left; every other fault leaves it open. */
function mayBeDone(error: GatewayError): boolean {
  if (error.notSent) return false;
  return isGatewayError(error, 'UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_UNREADABLE');
}

/** A list of somebody who does not exist is empty; a list that does not exist is a fault of the configuration. */
function emptyPageOf(read: { readonly about?: Subject }): Page<never> {
  if (read.about !== undefined) return emptyPage;
  throw new GatewayError(
    'UPSTREAM_REJECTED',
    'The service has no such list. Check SERVICE_URL and SERVICE_ORDERS_PATH.',
    {
      status: 404,
    },
  );
}
