import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/**
 * Refuses JSON whose bytes are not UTF-8. Yoga would read U+FFFD in place of the letters of another charset, and a mutation
 * would write it to the service.
 */
export function useUtf8Bodies(): Plugin {
  return {
    onRequestParse: ({ requestParser, setRequestParser }) => {
      if (requestParser === undefined) return;
      setRequestParser(({ url, method, headers, signal, body }) => {
        const checked = body?.pipeThrough(failUnlessUtf8()) ?? null;
        const init = { method, headers, signal, body: checked, duplex: 'half' };
        return requestParser(new Request(url, init));
      });
    },
  };
}

/** Passes bytes on, and fails at the first that is not UTF-8. */
function failUnlessUtf8(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const check = (controller: TransformStreamDefaultController<Uint8Array>, chunk?: Uint8Array) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
      if (chunk !== undefined) controller.enqueue(chunk);
    } catch {
      controller.error(notUtf8());
    }
  };
  return new TransformStream({
    transform: (chunk, controller) => check(controller, chunk),
    flush: (controller) => check(controller),
  });
}

export function notUtf8(): GraphQLError {
  const extensions = { code: 'BAD_REQUEST', http: { status: 415 } };
  return new GraphQLError('Send it in UTF-8.', { extensions });
}
