import { describe, expect, test } from 'vitest';
import { readOrder } from '../../../widget/src/live/order.ts';
import { readSteps } from '../../../widget/src/status/steps.ts';
import { REGISTRABLE_KIT, type WireOrder, wireOrder } from '../support/orders.ts';

function stepsOf(order: WireOrder): string {
  const read = readOrder(order);
  if (!read) throw new Error('The order cannot be read.');
  return readSteps(read)
    .map(({ stage, state }) => `${stage} ${state}`)
    .join(', ');
}

const PLACED = ['RECEIVED', 'ordered'] as const;
const VISIT = ['COLLECTING_SAMPLE', 'appointment_scheduled'] as const;
const LAB = ['SAMPLE_WITH_LAB', 'partial_results'] as const;

describe('the steps of an order', () => {
  test.each([
    [1, 'RECEIVED current, COLLECTING_SAMPLE ahead, SAMPLE_WITH_LAB ahead, COMPLETED ahead'],
    [3, 'RECEIVED done, COLLECTING_SAMPLE current, SAMPLE_WITH_LAB ahead, COMPLETED ahead'],
    [5, 'RECEIVED done, COLLECTING_SAMPLE current, SAMPLE_WITH_LAB ahead, COMPLETED ahead'],
    [6, 'RECEIVED done, COLLECTING_SAMPLE current, SAMPLE_WITH_LAB ahead, COMPLETED ahead'],
    [8, 'RECEIVED done, COLLECTING_SAMPLE done, SAMPLE_WITH_LAB done, COMPLETED current'],
  ])('do not go back with a kit that is registered after its delivery (%i events)', (count, steps) => {
    expect(stepsOf(wireOrder(REGISTRABLE_KIT.slice(0, count)))).toBe(steps);
  });

  test('have no collection of its own for an on-site collection', () => {
    const order = wireOrder([PLACED, ['SAMPLE_WITH_LAB', 'draw_completed']], {
      method: 'ON_SITE_COLLECTION',
    });

    expect(stepsOf(order)).toBe('RECEIVED done, SAMPLE_WITH_LAB current, COMPLETED ahead');
  });

  test('count what was passed over as done: a patient may walk in without an appointment', () => {
    const order = wireOrder([PLACED, LAB], { method: 'WALK_IN_TEST' });

    expect(stepsOf(order)).toBe(
      'RECEIVED done, COLLECTING_SAMPLE done, SAMPLE_WITH_LAB current, COMPLETED ahead',
    );
  });

  test('go back where the person has to: to a new collection after the lab', () => {
    const order = wireOrder([PLACED, VISIT, LAB, ['COLLECTING_SAMPLE', 'redraw_available']]);

    expect(stepsOf(order)).toBe(
      'RECEIVED done, COLLECTING_SAMPLE current, SAMPLE_WITH_LAB reached, COMPLETED ahead',
    );
  });

  test('end where the order ended, without a tick on the step it ended in', () => {
    const order = wireOrder([PLACED, VISIT, ['CANCELLED', 'cancelled']]);

    expect(stepsOf(order)).toBe('RECEIVED done, COLLECTING_SAMPLE reached, CANCELLED current');
  });

  test('show a failure after everything that was reached', () => {
    const order = wireOrder([PLACED, VISIT, LAB, ['FAILED', 'sample_error']]);

    expect(stepsOf(order)).toBe(
      'RECEIVED done, COLLECTING_SAMPLE done, SAMPLE_WITH_LAB reached, FAILED current',
    );
  });

  test('stay at the last known stage while the stage is unknown', () => {
    const order = wireOrder([PLACED, VISIT, ['QUARANTINED', 'in_quarantine']]);

    expect(stepsOf(order)).toBe(
      'RECEIVED done, COLLECTING_SAMPLE current, SAMPLE_WITH_LAB ahead, COMPLETED ahead',
    );
  });

  test('guess no current step when no stage was ever known', () => {
    const order = wireOrder([['QUARANTINED', 'in_quarantine']]);

    expect(stepsOf(order)).toBe(
      'RECEIVED done, COLLECTING_SAMPLE ahead, SAMPLE_WITH_LAB ahead, COMPLETED ahead',
    );
  });
});
