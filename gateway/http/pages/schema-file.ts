import { authenticateRequest, type RequestAuthentication } from '../../auth/authenticate.ts';
import { Rights } from '../../auth/rights.ts';
import { memoize } from '../../cache/memoize.ts';
import { GatewayError } from '../../errors.ts';
import { answerRefusal } from '../graphql-route.ts';
import { answerStaticFile, caching, createStaticFile } from './static-files.ts';

export interface SchemaFileOptions extends RequestAuthentication {
  readonly print: () => string;
  /** Everybody may see the schema, because it is the sandbox's; otherwise only gateway keys may. */
  readonly isOpen: boolean;
}

/** Answers `GET /schema.graphql`: the schema as text, for callers who may also introspect it. */
export function createSchemaFile(options: SchemaFileOptions): (request: Request) => Promise<Response> {
  const { print, isOpen } = options;
  const load = memoize(() => createStaticFile('schema.graphql', Buffer.from(print())));
  return async (request) => {
    try {
      if (!isOpen) await requireGatewayKey(options, request.headers);
    } catch (error) {
      return answerRefusal(error, 'application/json');
    }
    return answerStaticFile(request, await load(), { 'cache-control': caching.revalidated });
  };
}

/** @throws GatewayError UNAUTHENTICATED, RATE_LIMITED, FORBIDDEN */
async function requireGatewayKey(options: RequestAuthentication, headers: Headers): Promise<void> {
  const credentials = { authorization: headers.get('authorization'), origin: headers.get('origin') };
  const caller = await authenticateRequest(options, credentials);
  if (new Rights(caller).has('gateway-key')) return;
  throw new GatewayError('FORBIDDEN', 'Only a gateway key may read the schema.');
}
