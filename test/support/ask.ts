import { gatewayKey, type Lab } from './lab.ts';
import {
  type ExecutionResult,
  type Subscribed,
  subscribeOverSse,
  subscribeOverWebSocket,
} from './subscribe.ts';

/** Runs one operation of any kind and gives its first answer. */
export type Ask = (
  lab: Lab,
  query: string,
  variables?: Readonly<Record<string, unknown>>,
) => Promise<ExecutionResult>;

/** Parts are for streams only: Apollo Client sends everything else as JSON. */
const forEveryOperation = [
  ['SSE', subscribeOverSse],
  ['WebSocket', subscribeOverWebSocket],
] as const;

/** The ways an operation can reach the gateway, as a server of the team. */
export const ways = waysWith(() => gatewayKey);

/** The same ways with another token, asked for when it is needed. */
export function waysWith(tokenNow: () => string): readonly (readonly [string, Ask])[] {
  return [
    ['HTTP', (lab, query, variables = {}) => lab.query(query, { variables, token: tokenNow() })],
    ...forEveryOperation.map(([name, subscribe]): readonly [string, Ask] => [
      name,
      async ({ url }, query, variables = {}) =>
        await firstAnswer(await subscribe({ url, token: tokenNow(), query, variables })),
    ]),
  ];
}

async function firstAnswer(operation: Subscribed): Promise<ExecutionResult> {
  try {
    return (await operation.next()) ?? {};
  } catch (errors) {
    // Over WebSocket an operation that never began ends in an error message: a list of errors.
    if (Array.isArray(errors)) return { errors };
    throw errors;
  } finally {
    await operation.close();
  }
}
