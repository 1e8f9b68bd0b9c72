import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';

export interface ProviderKeysOptions {
  /** Told when the provider's keys cannot be had, and when they can be again, each once. */
  readonly onState: (isThere: boolean, error?: unknown) => void;
  readonly timing?: ProviderTiming;
}

export interface ProviderTiming {
  /** How long the provider may take to answer. */
  readonly answerMs: number;
  /** For how long an unknown `kid` does not make the gateway ask again. */
  readonly cooldownMs: number;
  /** For how long it is left alone after a failure. */
  readonly retryMs: number;
  /** After which time keys are read again: how long a withdrawn key still works. */
  readonly refreshMs: number;
}

const usualTiming: ProviderTiming = {
  answerMs: 3000,
  cooldownMs: 30_000,
  retryMs: 5000,
  refreshMs: 600_000,
};
const maxKeySetBytes = 256 * 1024;

/**
 * The keys of the team's identity provider, read when a token first needs them. One that is known goes on working
 * while the provider cannot be reached, because that must not sign everybody out; nothing new is taken meanwhile.
 */
export function createProviderKeys(url: string, options: ProviderKeysOptions): JWTVerifyGetKey {
  const { onState, timing = usualTiming } = options;
  let [isThere, quietUntil, readAt] = [true, 0, 0];
  const note = (now: boolean, error?: unknown) => {
    if (now !== isThere) onState(now, error);
    isThere = now;
  };

  const readKeys = async (address: string, init: RequestInit): Promise<Response> => {
    if (Date.now() < quietUntil) throw new Error('The identity provider has just failed.');
    try {
      const answer = await fetchKeySet(address, init);
      readAt = Date.now();
      note(true);
      return answer;
    } catch (error) {
      quietUntil = Date.now() + timing.retryMs;
      note(false, error);
      throw error;
    }
  };
  const keys = createRemoteJWKSet(new URL(url), {
    [customFetch]: readKeys,
    timeoutDuration: timing.answerMs,
    cooldownDuration: timing.cooldownMs,
    cacheMaxAge: Number.POSITIVE_INFINITY,
  });
  return async (header, token) => {
    const isOld = readAt > 0 && Date.now() - readAt > timing.refreshMs;
    // Behind the answer: nobody waits for a provider whose keys are known. A failure has been told by `readKeys`.
    if (isOld) keys.reload().catch(() => undefined);
    return await keys(header, token);
  };
}

/** A whole and readable key set: the library would keep what it cannot use and ask no more. */
async function fetchKeySet(address: string, init: RequestInit): Promise<Response> {
  const response = await fetch(address, init);
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error('The identity provider answers its keys with another status than 200.');
  }
  const text = await readText(response);
  const set: unknown = JSON.parse(text);
  const isSet = typeof set === 'object' && set !== null && 'keys' in set && Array.isArray(set.keys);
  if (!isSet) throw new Error('The identity provider answers with something that is no key set.');
  return new Response(text);
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxKeySetBytes) throw new Error('The key set of the identity provider is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
