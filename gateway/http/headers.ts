import { Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { secureHeaders } from 'hono/secure-headers';

/** Headers that every answer of the gateway has. */
export function secure(): MiddlewareHandler {
  return secureHeaders({
    // A page that opens the portal in a tab must see when that tab is closed.
    crossOriginOpenerPolicy: false,
    // Widget files and answers to allowed origins are for other origins.
    crossOriginResourcePolicy: false,
    // Whether a whole host is https is the decision of its operator.
    strictTransportSecurity: false,
    // For browsers that are no more, or without a meaning here.
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    xFrameOptions: 'DENY',
    overwrite: false,
  });
}

/** Lets pages of some origins read answers. */
export function allowOrigins(isAllowedOrigin: (origin: string) => boolean): MiddlewareHandler {
  return cors({
    origin: (origin) => (isAllowedOrigin(origin) ? origin : null),
    allowMethods: ['GET', 'POST', 'OPTIONS'],
    allowHeaders: ['authorization', 'content-type', 'accept', 'last-event-id', 'x-requested-with'],
    exposeHeaders: ['x-request-id', 'retry-after'],
    maxAge: 600,
  });
}

/** Names and values, one after the other, as `writeHead` takes them. */
export type RawHeaders = readonly string[];

/**
 * The headers that these two add to an answer of `/graphql`, for answers that do not pass through Hono. They are made by
 * the same code, once for each allowed origin and once for all others, so there is no second list to keep.
 */
export function createEdgeHeaders(
  isAllowedOrigin: (origin: string) => boolean,
): (origin: string | null) => Promise<RawHeaders> {
  const app = new Hono().use(secure()).use(allowOrigins(isAllowedOrigin));
  app.all('*', (context) => context.body(null));
  const made = new Map<string | null, Promise<RawHeaders>>();
  const make = async (allowed: string | null): Promise<RawHeaders> => {
    const { headers } = await app.request('/graphql', {
      method: 'POST',
      headers: allowed === null ? {} : { origin: allowed },
    });
    return [...headers].flat();
  };
  return (origin) => {
    const allowed = origin !== null && isAllowedOrigin(origin) ? origin : null;
    const known = made.get(allowed);
    if (known !== undefined) return known;
    const making = make(allowed);
    made.set(allowed, making);
    return making;
  };
}
