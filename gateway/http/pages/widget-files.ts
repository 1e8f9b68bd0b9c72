import { readFile } from 'node:fs/promises';

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  map: 'application/json; charset=utf-8',
};

/**
 * Serves built widget files to pages of any origin: they are public and contain no data. Each file is cached in memory when
 * it is first read, so a rebuilt file needs a restart.
 */
export function createWidgetFiles(folder: URL): (file: string) => Promise<Response> {
  const cache = new Map<string, Buffer>();
  const load = async (file: string) => {
    const cached = cache.get(file);
    if (cached !== undefined) return cached;
    const bytes = await readFile(new URL(file, folder));
    cache.set(file, bytes);
    return bytes;
  };
  return async (file) => {
    try {
      return answerFile(file, await load(file));
    } catch {
      const message = 'There is no such widget file. Build the widget with: npm run build';
      return Response.json({ error: { code: 'NOT_FOUND', message } }, { status: 404 });
    }
  };
}

function answerFile(file: string, bytes: Buffer): Response {
  const extension = file.slice(file.lastIndexOf('.') + 1);
  return new Response(streamShared(bytes), {
    headers: {
      'content-type': contentTypes[extension] ?? 'application/octet-stream',
      'content-length': String(bytes.length),
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
    },
  });
}

const pieceBytes = 64 * 1024;

/**
 * A body for a Response that shares its bytes, because a Response made of bytes copies them for each answer. The bytes
 * are sent in pieces as the client reads, so that a large body never has many unread bytes.
 */
export function streamShared(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (at < bytes.length) controller.enqueue(bytes.subarray(at, at + pieceBytes));
      at += pieceBytes;
      if (at >= bytes.length) controller.close();
    },
  });
}
