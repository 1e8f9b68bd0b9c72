import type { TokenProvider } from '@labgraph/widget';

/** What the page gives to its app. */
export interface AppProps {
  readonly endpoint: string;
  readonly portalOrigins: string;
  readonly orderId: string;
}

export function findRoot(): HTMLElement {
  const root = document.querySelector<HTMLElement>('#app');
  if (root === null) throw new Error('The page has no #app.');
  return root;
}

export function readProps(): AppProps {
  return JSON.parse(findRoot().dataset['props'] ?? '');
}

/** Asks the server of the page, as in docs/embedding.md. */
export const getPortalToken: TokenProvider = async ({ signal }) => {
  const { tokenPath } = JSON.parse(document.querySelector('#settings')?.textContent ?? '');
  return (await fetch(tokenPath, { method: 'POST', signal })).json();
};
