import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { GatewayError } from '../errors.ts';

/** A place in a stream of events. */
export interface Place {
  readonly position: number;
  /**
   * Versions that a snapshot at this place already showed although their webhooks had not come yet, by
   * subject: such a webhook is no change for whoever holds the cursor. Usually empty.
   */
  readonly shown: Readonly<Record<string, number>>;
}

/** Makes and reads the opaque cursors of streams. */
export interface Cursors {
  readonly issue: (scope: string, place: Place) => string;
  /**
   * The place a cursor stands for, or `other-epoch` for one of a log that is gone.
   * @throws GatewayError BAD_CURSOR for a forged cursor or one of another stream or caller
   */
  readonly read: (scope: string, cursor: string) => Place | 'other-epoch';
}

const payloadShape = z.tuple([z.string(), z.number().int().min(0), z.record(z.string(), z.number())]);
const macBytes = 16;

/**
 * Cursor = base64url(payload . MAC): epoch, position, versions already shown; the MAC also covers the scope
 * (which stream, for whom), so a cursor works only where it was issued.
 */
export function createCursors(epoch: string, key: Buffer): Cursors {
  const macOf = (scope: string, payload: Buffer) =>
    createHmac('sha256', key).update(scope).update('\0').update(payload).digest().subarray(0, macBytes);

  return {
    issue: (scope, { position, shown }) => {
      const payload = Buffer.from(JSON.stringify([epoch, position, shown]));
      return Buffer.concat([macOf(scope, payload), payload]).toString('base64url');
    },
    read: (scope, cursor) => {
      const bytes = Buffer.from(cursor, 'base64url');
      const [mac, payload] = [bytes.subarray(0, macBytes), bytes.subarray(macBytes)];
      if (mac.length < macBytes || !timingSafeEqual(mac, macOf(scope, payload))) throw badCursor();
      const [cursorEpoch, position, shown] = payloadShape.parse(JSON.parse(payload.toString('utf8')));
      return cursorEpoch === epoch ? { position, shown } : 'other-epoch';
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
 * The cursor key in a file of its own (0600) beside the log, so that it outlives a lost log: old cursors then
 * end in RESYNC, not in BAD_CURSOR.
 */
export function keepCursorKey(path: string): Buffer {
  if (!existsSync(path)) {
    writeFileSync(path, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
  }
  chmodSync(path, 0o600);
  return Buffer.from(readFileSync(path, 'utf8'), 'base64');
}
