import type { IncomingHttpHeaders } from 'node:http';
import type { SpoiltLab } from '../../support/spoilt-lab.ts';

/** One value that the gateway sent, and where, as the service would name it in a 422. */
export interface Place {
  readonly loc: readonly (string | number)[];
  readonly value: unknown;
}

/** Every value in a request to the service: in its path, query and body, and in the header that is ours. */
export function placesIn({ call, headers, body }: SpoiltLab['sent'][number]): readonly Place[] {
  const { pathname, searchParams } = new URL(call.slice(call.indexOf(' ') + 1), 'http://service');
  const ofPath = [...pathname.matchAll(/\/(user|order)\/([0-9a-f-]{36})/g)].map(
    ([, name, value]): Place => ({ loc: ['path', `${name}_id`], value }),
  );
  const ofQuery = [...searchParams].map(([name, value]): Place => ({ loc: ['query', name], value }));
  const key = headers['x-idempotency-key'];
  const ofHeader = key === undefined ? [] : [{ loc: ['header', 'x-idempotency-key'], value: key }];
  return [...ofPath, ...ofQuery, ...ofHeader, ...bodyPlaces(headers, body)];
}

function bodyPlaces(headers: IncomingHttpHeaders, body: Buffer): readonly Place[] {
  if (body.length === 0) return [];
  if (headers['content-type']?.startsWith('multipart/form-data')) {
    const names = new Set(
      [...body.toString('latin1').matchAll(/ name="(\w+)"/g)].map(([, name = '']) => name),
    );
    return [...names].map((name) => ({ loc: ['body', name], value: name }));
  }
  return leaves(JSON.parse(body.toString()), ['body']);
}

function leaves(value: unknown, loc: readonly (string | number)[]): readonly Place[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, [...loc, index]));
  if (typeof value !== 'object' || value === null) return [{ loc, value }];
  return Object.entries(value).flatMap(([name, item]) => leaves(item, [...loc, name]));
}
