import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applyUpdate,
  beginSubscription,
  emptyStream,
  forgetCursor,
  type OrderStream,
  type OrderUpdate,
  readUpdate,
} from '../../../widget/src/live/order-stream.ts';
import { kitAfter, REGISTRABLE_KIT, wireOrder } from '../support/orders.ts';

function update(kind: string, count: number): OrderUpdate {
  const read = readUpdate({ kind, order: kitAfter(count), event: null, cursor: `cursor-${count}` });
  if (!read) throw new Error('The update cannot be read.');
  return read;
}

function shownCount(stream: OrderStream): number {
  return stream.order?.events.length ?? 0;
}

describe('the stream of an order', () => {
  test('starts with a snapshot and goes forward', () => {
    const stream = [update('SNAPSHOT', 2), update('CHANGED', 3)].reduce(applyUpdate, emptyStream);

    expect([shownCount(stream), stream.cursor, stream.highWater]).toEqual([3, 'cursor-3', 103n]);
  });

  test('neither shows an older update nor resumes from its cursor', () => {
    const stream = [update('SNAPSHOT', 4), update('CHANGED', 2)].reduce(applyUpdate, emptyStream);

    expect([shownCount(stream), stream.cursor]).toEqual([4, 'cursor-4']);
  });

  test('compares event ids as numbers', () => {
    const at = (id: string) => ({ ...kitAfter(1), events: [{ id, createdAt: '', status: {} }] });
    const read = (id: string) => readUpdate({ kind: 'CHANGED', order: at(id), cursor: id });
    const first = read('99999999999999999998');
    const second = read('100000000000000000000');
    if (!first || !second) throw new Error('The updates cannot be read.');

    const stream = [first, second, first].reduce(applyUpdate, emptyStream);

    expect(stream.cursor).toBe('100000000000000000000');
  });

  test.each(['SNAPSHOT', 'RESYNC'])(
    'is replaced by the %s a new subscription starts with, even by an older one',
    (kind) => {
      const before = [update('SNAPSHOT', 5)].reduce(applyUpdate, emptyStream);

      const after = applyUpdate(beginSubscription(before), update(kind, 3));

      expect([shownCount(after), after.highWater]).toEqual([3, 103n]);
    },
  );

  test('takes an order read over HTTP without losing its cursor', () => {
    const stream = applyUpdate(applyUpdate(emptyStream, update('SNAPSHOT', 2)), {
      ...update('CHANGED', 4),
      kind: 'READ',
      cursor: null,
    });

    expect([shownCount(stream), stream.cursor]).toEqual([4, 'cursor-2']);
  });

  test('forgets only the cursor after BAD_CURSOR', () => {
    const stream = forgetCursor(applyUpdate(emptyStream, update('SNAPSHOT', 2)));

    expect([shownCount(stream), stream.cursor]).toEqual([2, null]);
  });

  test('reads unknown kinds, stages, methods and fields as they come', () => {
    const order = {
      ...wireOrder([['QUARANTINED', 'in_quarantine']], { method: 'BY_DRONE' }),
      colour: 'blue',
    };

    const read = readUpdate({ kind: 'WHISPERED', order, cursor: 'c', mood: 1 });

    expect([read?.kind, read?.order.status.stage, read?.order.status.label, read?.order.method]).toEqual([
      'CHANGED',
      'UNKNOWN',
      'In quarantine',
      null,
    ]);
  });

  test.each([null, 7, 'order', [], {}, { order: {} }, { order: { id: 'x' } }])(
    'reads %j as no update',
    (value) => {
      expect(readUpdate(value)).toBeNull();
    },
  );

  test('ends in the state of the server after any duplicates, losses and reorderings, and never goes back', () => {
    const last = REGISTRABLE_KIT.length;
    const item = fc.record({
      kind: fc.constantFrom('CHANGED', 'RECONCILED', 'READ', 'SNAPSHOT'),
      count: fc.integer({ min: 1, max: last }),
    });

    fc.assert(
      fc.property(fc.array(item, { maxLength: 30 }), fc.constantFrom('RESYNC', 'SNAPSHOT'), (items, end) => {
        let stream = applyUpdate(emptyStream, update('SNAPSHOT', 1));
        for (const { kind, count } of items) {
          const before = shownCount(stream);
          stream = applyUpdate(stream, { ...update(kind, count), kind: kind as OrderUpdate['kind'] });
          expect(shownCount(stream)).toBeGreaterThanOrEqual(before);
        }
        stream = applyUpdate(beginSubscription(stream), update(end, last));
        expect([stream.order, stream.cursor]).toEqual([update(end, last).order, `cursor-${last}`]);
      }),
    );
  });

  test('loses nothing when a connection resumes from its last cursor', () => {
    const last = REGISTRABLE_KIT.length;
    const connection = fc.record({ delivered: fc.nat({ max: last }), repeats: fc.nat({ max: 3 }) });

    fc.assert(
      fc.property(fc.array(connection, { maxLength: 8 }), (connections) => {
        let stream: OrderStream = applyUpdate(emptyStream, update('SNAPSHOT', 1));
        for (const { delivered, repeats } of [...connections, { delivered: last, repeats: 0 }]) {
          stream = beginSubscription(stream);
          const from = Number(stream.cursor?.replace('cursor-', ''));
          const sent = Array.from(
            { length: delivered },
            (_, index) => Math.max(1, from - repeats) + index,
          ).filter((count) => count <= last);
          for (const count of [...sent, ...(delivered === last ? [last] : [])])
            stream = applyUpdate(stream, update('CHANGED', count));
        }
        expect(shownCount(stream)).toBe(last);
      }),
    );
  });
});
