import { createLabgraphClient } from '@labgraph/client';
import {
  Environment,
  type GraphQLResponse,
  Network,
  Observable,
  RecordSource,
  type RequestParameters,
  Store,
  type Variables,
} from 'relay-runtime';

const url: string = import.meta.env.VITE_LABGRAPH_URL ?? 'http://127.0.0.1:4000/graphql';

type Data = Record<string, unknown>;

/** Asks for a viewer token when it needs one, and for another when the gateway rejects it. */
const labgraph = createLabgraphClient({
  url,
  token: async () => {
    const response = await fetch('/portal-token', { method: 'POST' });
    if (!response.ok) throw new Error(`There is no viewer token: ${response.status}.`);
    return (await response.json()).token;
  },
});

const send = async ({ text }: RequestParameters, variables: Variables): Promise<GraphQLResponse> => ({
  data: await labgraph.query<Data>(text ?? '', variables),
});

function subscribe({ text }: RequestParameters, variables: Variables): Observable<GraphQLResponse> {
  return Observable.create((sink) => {
    const updates = labgraph.follow<Data>(text ?? '', variables);
    const pass = async () => {
      for await (const data of updates) sink.next({ data });
      sink.complete();
    };
    pass().catch(sink.error);
    return () => void updates.return();
  });
}

export const environment = new Environment({
  network: Network.create(send, subscribe),
  store: new Store(new RecordSource()),
  // The service's own ids are unique within their type only.
  getDataID: ({ nodeId }: Data) => nodeId,
});
