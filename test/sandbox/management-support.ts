import type { SandboxOptions } from '../../sandbox/sandbox.ts';
import type { Exchange } from '../contract/exchange.ts';
import { routeOf } from '../contract/routes.ts';
import { openServiceDocument } from '../contract/service-document.ts';
import { type OpenSandbox, openSandbox } from './support.ts';

export const managementKey = 'mg_of_the_tests';

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are read like a client reads them, field by field.
  readonly body: any;
  readonly headers: Headers;
}

/** Asks the management interface; the path goes on after `/v1/org/{org_id}`. */
export type Manage = (
  method: string,
  path: string,
  options?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
) => Promise<Answer>;

export interface Managed extends OpenSandbox {
  readonly manage: Manage;
  /** The routes that match and were never answered with success: none, at the end of a file. */
  readonly neverSucceeded: (part: RegExp) => readonly string[];
}

const document = openServiceDocument();

/**
 * Two things are no faults: too many requests may be said by any operation and is declared by none; the labs of
 * the sandbox are invented (docs/service.md, row 30h).
 */
function findFaults(asked: Exchange): readonly unknown[] {
  if (!document || asked.status === 429) return [];
  const isRefused = asked.status >= 300;
  const faults = document.findResponseFaults(asked).filter(({ at }) => at !== 'MgmtLabs');
  return [...faults, ...(isRefused ? [] : document.findRequestFaults(asked))];
}

/**
 * A sandbox and its management interface. Where the public document is at hand, every answer and every request
 * that succeeded is held against it.
 */
export function openManaged(more: Partial<SandboxOptions> = {}): Managed {
  const service = openSandbox({ managementKey, ...more });
  const { sandbox } = service;
  const succeeded = new Set<string | undefined>();
  const manage: Manage = async (method, path, { body, headers } = {}) => {
    const url = new URL(`/v1/org/${sandbox.orgId}${path}`, 'http://sandbox.test');
    const answer = await sandbox.fetch(
      new Request(`http://sandbox.test/management${url.pathname}${url.search}`, {
        method,
        headers: headers ?? { 'x-management-key': managementKey },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const text = await answer.text();
    const received = text === '' ? '' : JSON.parse(text);
    const asked = {
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: new Headers({ 'x-management-key': managementKey }),
      sent: body ?? null,
      status: answer.status,
      contentType: answer.headers.get('content-type')?.split(';')[0] ?? '',
      received,
    };
    if (answer.ok) succeeded.add(routeOf(sandbox.managementRoutes, asked));
    const faults = findFaults(asked);
    if (faults.length > 0) throw new Error(`${method} ${path}: ${JSON.stringify(faults)}`);
    return { status: answer.status, body: received, headers: answer.headers };
  };
  const neverSucceeded = (part: RegExp) =>
    sandbox.managementRoutes.filter((route) => part.test(route) && !succeeded.has(route));
  return { ...service, manage, neverSucceeded, [Symbol.asyncDispose]: service[Symbol.asyncDispose] };
}
