import { GatewayError } from '../errors.ts';

/** A file of the service on its way. */
export interface UpstreamFile {
  /** Its length, when the service says it. */
  readonly bytes: number | null;
  /** Its bytes as they come; leaving the iteration ends the transfer. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the transfer of a file that nobody reads. */
  readonly cancel: () => void;
}

export interface OpenOptions {
  /** The media type that is wanted. */
  readonly accept: string;
  /** Ends the transfer, also half-way. */
  readonly signal?: AbortSignal | undefined;
}

/** The media type of an answer without its parameters, in lower case. */
export function mediaTypeOf(contentType: string | null): string {
  return contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
}

export function notThatFile(): GatewayError {
  return new GatewayError('UPSTREAM_UNREADABLE', 'The service answered with something that is not the file.');
}
