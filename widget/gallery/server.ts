import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/** The gallery, served on this machine. */
export interface GalleryServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Serves the gallery from its sources, at a free port. */
export async function serveGallery(): Promise<GalleryServer> {
  const server = await createServer({
    root: fileURLToPath(new URL('.', import.meta.url)),
    configFile: false,
    logLevel: 'warn',
    server: { host: '127.0.0.1', fs: { strict: false } },
  });
  await server.listen(0);
  const [url = ''] = server.resolvedUrls?.local ?? [];
  return { url, stop: () => server.close() };
}
