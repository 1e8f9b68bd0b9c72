const timeoutMs = 10_000;
const maxBytes = 1024 * 1024;

/** @returns null without an answer within 10 s; `onFault` gets the reason */
export async function request(
  url: string,
  init: RequestInit = {},
  onFault?: (reason: unknown) => void,
): Promise<Response | null> {
  try {
    return await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    onFault?.(error instanceof Error ? error.cause : error);
    return null;
  }
}

/** The JSON of an answer; undefined where it is none, or has more than 1 MiB. */
export async function readJson(response: Response | null): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response?.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) return undefined;
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** A field of a parsed answer; undefined where it has none. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}
