import type { Page } from '../../service/calls.ts';
import type { Service } from '../../service/service.ts';
import type { Reader } from '../parse.ts';

/** Where a team is at the service. All parts are checked before they become parts of a path. */
export interface TeamPlace {
  readonly orgId: string;
  readonly teamId: string;
  readonly region: string;
}

/** One environment of a team. */
export interface Place extends TeamPlace {
  readonly environment: string;
}

/** A place in a list that the service pages by a cursor. */
export interface PageStart {
  readonly cursor: string | null;
  readonly limit: number;
}

interface Call {
  /** A name for metrics and the audit trail, without `management.`. */
  readonly operation: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | readonly string[] | null>>;
}

interface Change<T> extends Call {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: object;
  readonly readsRefusals?: readonly number[];
  readonly reader: Reader<T>;
}

/** Nothing here belongs to a user, and nothing is cached: some answers are secrets. */
const owned = { scope: null, owner: 'anyone', about: { userId: null } } as const;

/** The thing, or null when it does not exist or the gateway's key does not reach it. */
export function readThing<T>(service: Service, { operation, ...call }: Call, reader: Reader<T>) {
  return service.readOne({ ...owned, ...call, operation: `management.${operation}`, method: 'GET', reader });
}

/** One page of a list. */
export function readRows<Row>(
  service: Service,
  { operation, ...call }: Call,
  reader: Reader<Page<Row>>,
): Promise<Page<Row>> {
  return service.readPage({ ...owned, ...call, operation: `management.${operation}`, method: 'GET', reader });
}

/** The answer to a change, or null when its subject does not exist or the gateway's key does not reach it. */
export function change<T>(service: Service, { operation, ...call }: Change<T>): Promise<T | null> {
  return service.write({ ...owned, ...call, operation: `management.${operation}` });
}

export function orgPath(orgId: string): string {
  return `/v1/org/${orgId}`;
}

export function teamPath({ orgId, teamId }: Omit<TeamPlace, 'region'>): string {
  return `${orgPath(orgId)}/team/${teamId}`;
}

/** For the lists of an organization that are divided by environment and region. */
export function regionalPath({ orgId, environment, region }: Omit<Place, 'teamId'>, list: string): string {
  return `${orgPath(orgId)}/${list}/${environment}/${region}`;
}

/** The answer to a change that has nothing to show. */
export function readNothing(): true {
  return true;
}
