import { describe, expect, test } from 'vitest';
import { readOrderStatus } from '../../../gateway/domain/order/read/rest-status.ts';
import { allStatuses } from '../../../sandbox/orders/states.ts';
import { type PortalOrder, readOrder } from '../../../widget/src/live/order.ts';
import { readNext } from '../../../widget/src/status/next.ts';
import { readStrings } from '../../../widget/src/words/language.ts';
import { mergeStrings } from '../../../widget/src/words/strings.ts';
import '../../../widget/src/languages/ar.ts';
import '../../../widget/src/languages/de.ts';
import '../../../widget/src/languages/es.ts';
import '../../../widget/src/languages/fr.ts';
import '../../../widget/src/languages/pt.ts';

const english = mergeStrings();

/** An order that went through these statuses of the service. */
function orderAfter(...way: readonly string[]): PortalOrder {
  const statuses = way.map(readOrderStatus);
  const status = statuses.at(-1);
  const events = statuses.map((each, index) => ({ id: String(index), status: each }));
  const order = readOrder({ id: 'order', method: status?.method, status, events });
  if (!order) throw new Error('The order cannot be read.');
  return order;
}

describe('what comes next', () => {
  test.each(['en', 'es', 'fr', 'de', 'pt', 'ar'])(
    'is said in words after every status of every collection method (%s)',
    (language) => {
      const strings = readStrings(language, null);
      const sentences = allStatuses.map((status) => [status, readNext(orderAfter(status), strings)] as const);

      expect(allStatuses.length).toBe(54);
      expect(sentences.filter(([, sentence]) => !/^\p{L}.+\.$/u.test(sentence ?? ''))).toEqual([]);
    },
  );

  test.each([
    'collecting_sample.testkit.by_drone',
    'quarantined',
    'received',
    'completed.genome.constructor',
    'received.genome.requisition_created',
  ])('is not invented for a status that the widget does not know: %s', (status) => {
    expect(readNext(orderAfter(status), english)).toBeUndefined();
  });

  test.each([
    ['received.testkit.requisition_created', 'Next, your kit is shipped.'],
    ['received.walk_in_test.requisition_bypassed', 'Visit a centre to have your sample taken.'],
    ['received.on_site_collection.requisition_created', 'Your sample can now be taken on site.'],
  ])('differs where the methods do: %s', (status, sentence) => {
    expect(readNext(orderAfter(status), english)).toBe(sentence);
  });

  test('is not another delivery for a kit that is registered after it was delivered', () => {
    const order = orderAfter(
      'received.testkit.ordered',
      'received.testkit.awaiting_registration',
      'collecting_sample.testkit.with_customer',
      'received.testkit.registered',
      'received.testkit.requisition_created',
    );

    expect(readNext(order, english)).toBe(english.next.REGISTERED);
  });

  test('can be said by the host in its own words', () => {
    const own = readStrings('en', { next: { COMPLETED: 'Your doctor will call you.' } });

    expect(readNext(orderAfter('completed.testkit.completed'), own)).toBe('Your doctor will call you.');
  });
});
