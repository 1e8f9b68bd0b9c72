import { createLabgraphClient, type TokenReason } from '@labgraph/client';
import { keys } from '@labgraph/client/schema';
import { forwardSubscription } from '@labgraph/client/urql';
import { authExchange } from '@urql/exchange-auth';
import { cacheExchange } from '@urql/exchange-graphcache';
import { Client, fetchExchange, subscriptionExchange } from '@urql/vue';

const url: string = import.meta.env.VITE_LABGRAPH_URL ?? 'http://127.0.0.1:4000/graphql';

let token = '';
let requested: Promise<string> | null = null;

/** One token for requests and for subscriptions, from this page's own server. */
async function getToken(reason: TokenReason = 'initial'): Promise<string> {
  if (reason === 'rejected') token = '';
  if (token !== '') return token;
  // Callers at the same time share one request.
  requested ??= requestToken().finally(() => {
    requested = null;
  });
  return await requested;
}

async function requestToken(): Promise<string> {
  const response = await fetch('/portal-token', { method: 'POST' });
  if (!response.ok) throw new Error(`There is no viewer token: ${response.status}.`);
  ({ token } = await response.json());
  return token;
}

/** A token ends after ten minutes. The gateway has executed nothing then: the same request is sent once more. */
const authorize = authExchange(async ({ appendHeaders }) => {
  await getToken();
  return {
    addAuthToOperation: (operation) => appendHeaders(operation, { authorization: `Bearer ${token}` }),
    didAuthError: ({ graphQLErrors }) => graphQLErrors[0]?.extensions.code === 'UNAUTHENTICATED',
    refreshAuth: async () => void (await getToken('rejected')),
  };
});

export const urql = new Client({
  url,
  preferGetMethod: false,
  exchanges: [
    cacheExchange({ keys }),
    authorize,
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: forwardSubscription(createLabgraphClient({ url, token: getToken })),
    }),
  ],
});
