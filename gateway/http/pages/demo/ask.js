/** How the page asks: for tokens as a host's page would, and the gateway with them. */

const TOKEN_MARGIN_MS = 30_000;
const providers = new Map();

/** One function per member: the widget shares its connection by it, and the page asks with the same token. */
export function tokenProviderOf(userId) {
  const provider = providers.get(userId) ?? createTokenProvider(userId);
  providers.set(userId, provider);
  return provider;
}

function createTokenProvider(userId) {
  let held = null;
  return async ({ reason } = {}) => {
    const isGood = held !== null && new Date(held.expiresAt).getTime() - Date.now() > TOKEN_MARGIN_MS;
    if (isGood && reason !== 'rejected') return held;
    held = await readJson('/demo/token', { body: { userId } });
    return held;
  };
}

/** Posts where there is a body. Throws unless the answer is a good one. */
export async function readJson(path, { body, headers = {} } = {}) {
  const post = { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(path, {
    ...(body === undefined ? {} : post),
    headers: { 'content-type': 'application/json', ...headers },
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}.`);
  return response.json();
}

/** Asks the gateway as one member. Throws on any error in the answer. */
export async function ask(userId, query, variables = {}) {
  const { token } = await tokenProviderOf(userId)();
  const headers = { authorization: `Bearer ${token}` };
  const { data, errors } = await readJson('/graphql', { body: { query, variables }, headers });
  if (errors) throw new Error(errors[0].message);
  return data;
}
