/**
 * The page's own server: gives the browser of a signed-in user a viewer token. The gateway key never leaves it.
 * Here it is a part of Vite's server (`npm run dev`, `npm run preview`). Yours is a route of your backend, which takes
 * the user from its session: this one has nobody else than LABGRAPH_USER_ID.
 */
import process from 'node:process';
import { createLabgraphClient } from '@labgraph/client';
import type { Plugin, PreviewServer, ViteDevServer } from 'vite';

const {
  VITE_LABGRAPH_URL: url = 'http://127.0.0.1:4000/graphql',
  LABGRAPH_KEY: key = '',
  LABGRAPH_USER_ID: userId = '',
} = process.env;

interface Created {
  readonly createViewerToken: { readonly token: string; readonly expiresAt: string } | null;
}

const createViewerToken = `mutation ($userId: ID!) {
  createViewerToken(input: { userId: $userId, scopes: ["read:orders"] }) { token expiresAt }
}`;

function answerTokens({ middlewares }: ViteDevServer | PreviewServer): void {
  const gateway = createLabgraphClient({ url, token: key });
  middlewares.use('/portal-token', async (_request, response) => {
    response.setHeader('content-type', 'application/json').setHeader('cache-control', 'no-store');
    try {
      const { createViewerToken: created } = await gateway.mutate<Created>(createViewerToken, { userId });
      response.end(JSON.stringify(created));
    } catch (error) {
      response.writeHead(502).end(JSON.stringify({ message: String(error) }));
    }
  });
}

export const viewerTokens: Plugin = {
  name: 'viewer-tokens',
  configureServer: answerTokens,
  configurePreviewServer: answerTokens,
};
