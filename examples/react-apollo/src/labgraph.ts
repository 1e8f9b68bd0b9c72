import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { ErrorLink } from '@apollo/client/link/error';
import { createLabgraphClient, type TokenReason } from '@labgraph/client';
import { resumeLink } from '@labgraph/client/apollo';
import { possibleTypes } from '@labgraph/client/schema';

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

const authorize = new SetContextLink(async ({ headers }) => ({
  headers: { ...headers, authorization: `Bearer ${await getToken()}` },
}));

/** A token ends after ten minutes. The gateway has executed nothing then: the same request is sent once more. */
const renewToken = new ErrorLink(({ error, operation, forward }) => {
  const code = CombinedGraphQLErrors.is(error) && error.errors[0]?.extensions?.code;
  if (code !== 'UNAUTHENTICATED') return;
  token = '';
  return forward(operation);
});

export const apollo = new ApolloClient({
  cache: new InMemoryCache({ possibleTypes }),
  link: ApolloLink.from([
    resumeLink(createLabgraphClient({ url, token: getToken })),
    renewToken,
    authorize,
    new HttpLink({ uri: url }),
  ]),
});
