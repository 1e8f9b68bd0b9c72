import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Exchange } from './exchange.ts';

/** The routes of the service, without the sandbox's own controls and the pages of the portal. */
export function serviceRoutes({ routes }: Pick<Sandbox, 'routes'>): readonly string[] {
  return routes.filter((route) => !/ \/(sandbox\/|portal|p\/)/.test(route));
}

/** Whether the request goes to this route of the sandbox, such as `GET /v3/order/:order_id`. */
function isAskedBy(route: string, { method, path }: Pick<Exchange, 'method' | 'path'>): boolean {
  const [wanted, given] = [route.split('/'), `${method} ${path}`.split('/')];
  return (
    wanted.length === given.length && wanted.every((part, n) => part.startsWith(':') || part === given[n])
  );
}

/** The route of each request that fits the fewest open parts, as the sandbox itself decides. */
export function routeOf(
  routes: readonly string[],
  asked: Pick<Exchange, 'method' | 'path'>,
): string | undefined {
  return routes
    .filter((route) => isAskedBy(route, asked))
    .toSorted((a, b) => a.split(':').length - b.split(':').length)[0];
}

/** Method and path of a route with the same text in each open part. */
export function fill(route: string, part: string): readonly [method: string, path: string] {
  const [method = '', path = ''] = route.split(' ');
  return [method, path.replace(/:\w+/g, part)];
}
