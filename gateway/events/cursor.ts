import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { GatewayError } from '../errors.ts';
import { decodeBase64url } from '../parse/bytes.ts';

/** A place in a stream of events. */
export interface Place {
  readonly position: number;
  /**
   * Versions by subject that a snapshot showed before their webhooks came. Such a webhook is not a change for the holder of
   * the cursor. Usually empty.
   */
  readonly shown: Readonly<Record<string, number>>;
  /** The holder has seen a part of a batch. The batch is sent again as a whole. */
  readonly isPartway?: boolean | undefined;
}

/** Makes and reads opaque cursors of streams and lists; a cursor is valid in one scope only. */
export interface Cursors {
  readonly issue: (scope: string, place: Place) => string;
  /**
   * The place of a cursor, or `other-epoch` for a cursor of a log that is gone.
   * @throws GatewayError BAD_CURSOR for a forged cursor or one of another stream or caller
   */
  readonly read: (scope: string, cursor: string) => Place | 'other-epoch';
  /** A cursor of any bytes. They are signed but not encrypted: clients can read them. */
  readonly sign: (scope: string, payload: Buffer) => string;
  /** The bytes of a cursor; null for a forged cursor, a cursor of another scope, or any other text. */
  readonly verify: (scope: string, cursor: string) => Buffer | null;
}

const payloadShape = z.tuple([
  z.string(),
  z.number().int().min(0),
  z.record(z.string(), z.number()),
  z.literal('partway').optional(),
]);
const macBytes = 16;
const keyBytes = 32;

/**
 * Cursor = base64url(MAC . payload): epoch, position, versions already shown, `partway`. The MAC also covers the scope
 * (which stream, which caller), so a cursor works only where it was issued.
 * @param keys the first signs, every key verifies (rotation); at least one
 */
export function createCursors(epoch: () => string, keys: readonly Buffer[]): Cursors {
  const [issuing] = keys;
  if (issuing === undefined) throw new Error('Cursors need a key.');
  const macOf = (key: Buffer, scope: string, payload: Buffer) =>
    createHmac('sha256', key).update(scope).update('\0').update(payload).digest().subarray(0, macBytes);

  const sign: Cursors['sign'] = (scope, payload) =>
    Buffer.concat([macOf(issuing, scope, payload), payload]).toString('base64url');
  const verify: Cursors['verify'] = (scope, cursor) => {
    const bytes = decodeBase64url(cursor);
    if (bytes === null) return null;
    const [mac, payload] = [bytes.subarray(0, macBytes), bytes.subarray(macBytes)];
    const isOurs =
      mac.length === macBytes && keys.some((key) => timingSafeEqual(mac, macOf(key, scope, payload)));
    return isOurs ? payload : null;
  };

  return {
    sign,
    verify,
    issue: (scope, { position, shown, isPartway }) => {
      const parts = [epoch(), position, shown, ...(isPartway ? ['partway'] : [])];
      return sign(scope, Buffer.from(JSON.stringify(parts)));
    },
    read: (scope, cursor) => {
      const payload = verify(scope, cursor);
      if (payload === null) throw badCursor();
      const parts = payloadShape.parse(JSON.parse(payload.toString('utf8')));
      const [cursorEpoch, position, shown, partway] = parts;
      if (cursorEpoch !== epoch()) return 'other-epoch';
      return partway === undefined ? { position, shown } : { position, shown, isPartway: true };
    },
  };
}

function badCursor(): GatewayError {
  return new GatewayError(
    'BAD_CURSOR',
    'This cursor was not issued for this stream and this caller. Subscribe without it.',
  );
}

/**
 * Reads the cursor key from a file of its own (0600) beside the log, or makes it. So it survives the loss of the log, and
 * old cursors end in RESYNC, not in BAD_CURSOR. A truncated file is replaced: anyone could forge cursors of an empty key.
 */
export function loadCursorKey(path: string): Buffer {
  const stored = existsSync(path) ? Buffer.from(readFileSync(path, 'utf8'), 'base64') : null;
  const key = stored?.length === keyBytes ? stored : randomBytes(keyBytes);
  if (key !== stored) writeFileSync(path, key.toString('base64'), { mode: 0o600, flush: true });
  chmodSync(path, 0o600);
  return key;
}
