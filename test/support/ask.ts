import { gatewayKey, type Lab } from './lab.ts';
import { type ExecutionResult, transports } from './subscribe.ts';

/** Runs one operation of any kind and gives its first answer. */
export type Ask = (
  lab: Lab,
  query: string,
  variables?: Readonly<Record<string, unknown>>,
) => Promise<ExecutionResult>;

const overStreams = transports.map(([name, subscribe]): readonly [string, Ask] => [
  name,
  async (lab, query, variables = {}) => {
    const operation = await subscribe({ url: lab.url, token: gatewayKey, query, variables });
    try {
      return (await operation.next()) ?? {};
    } catch (errors) {
      // Over WebSocket an operation that never began ends in an error message: a list of errors.
      if (Array.isArray(errors)) return { errors };
      throw errors;
    } finally {
      await operation.close();
    }
  },
]);

/** The ways an operation can reach the gateway. */
export const ways: readonly (readonly [string, Ask])[] = [
  ['HTTP', (lab, query, variables = {}) => lab.query(query, { variables })],
  ...overStreams,
];
