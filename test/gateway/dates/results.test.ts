import { expect, test } from 'vitest';
import { type Lab, startLab } from '../../support/lab.ts';

const dates = `collectedAt collectedOn collectedAtRaw receivedAt receivedOn receivedAtRaw
  reportedAt reportedOn reportedAtRaw`;
const query = (orderId: string) => `{ order(id: "${orderId}") { results {
  metadata { ${dates} birthDateRaw }
  biomarkers { reportedAt reportedOn reportedAtRaw }
  samples { ${dates} }
} } }`;

function answer(lab: Lab, path: RegExp, body: unknown): void {
  lab.sandbox.faults.add({ path, effect: { kind: 'answer', status: 200, body: JSON.stringify(body) } });
}

function orderOf(lab: Lab): string {
  const [order] = lab.sandbox.orders();
  if (order === undefined) throw new Error('The sandbox has no order.');
  return order.orderId;
}

test('results show each date as it was sent: an instant, a day, or text that is neither', async () => {
  await using lab = await startLab();
  const written = {
    date_collected: '18/08/1993',
    date_received: '1993-08-18',
    date_reported: 'Not given 12',
  };
  const atPlace = { timestamp: '2025-06-03T02:00:00Z', timezone_offset: -14_400 };
  answer(lab, /\/result$/, {
    metadata: { ...written, dob: 'Not given' },
    results: [{ timestamp: '2025-06-02T23:00:00-05:00' }, { timestamp: '03/04/2026' }, {}],
    sample_information: { one: { date_collected: atPlace, date_received: null, date_reported: 12 } },
  });

  const { data, errors } = await lab.query(query(orderOf(lab)));

  expect(errors).toBeUndefined();
  expect(data.order.results).toEqual({
    metadata: {
      collectedAt: null,
      collectedOn: null,
      collectedAtRaw: '18/08/1993',
      receivedAt: null,
      receivedOn: '1993-08-18',
      receivedAtRaw: '1993-08-18',
      reportedAt: null,
      reportedOn: null,
      reportedAtRaw: 'Not given 12',
      birthDateRaw: 'Not given',
    },
    biomarkers: [
      {
        reportedAt: '2025-06-03T04:00:00.000Z',
        reportedOn: '2025-06-02',
        reportedAtRaw: '2025-06-02T23:00:00-05:00',
      },
      { reportedAt: null, reportedOn: null, reportedAtRaw: '03/04/2026' },
      { reportedAt: null, reportedOn: null, reportedAtRaw: null },
    ],
    samples: [
      {
        collectedAt: '2025-06-03T02:00:00.000Z',
        // At the place it was still the day before.
        collectedOn: '2025-06-02',
        collectedAtRaw: '2025-06-03T02:00:00Z',
        receivedAt: null,
        receivedOn: null,
        receivedAtRaw: null,
        reportedAt: null,
        reportedOn: null,
        reportedAtRaw: '12',
      },
    ],
  });
});

test('a lab report shows the text of its dates beside them', async () => {
  await using lab = await startLab();
  const id = '0d5f6c1e-5a8f-4b7e-9a53-3a5d0d8d1c11';
  const metadata = {
    dob: '04/12/1988',
    date_reported: '2025-06-02T23:00:00-05:00',
    date_collected: '2025-06-02x',
  };
  answer(lab, /^\/lab_report/, { id, status: 'completed', data: { metadata, results: [] } });

  const { data, errors } = await lab.query(`{ labReport(id: "${id}") { metadata {
    dob dobRaw reportedOn reportedOnRaw collectedOn collectedOnRaw
  } } }`);

  expect(errors).toBeUndefined();
  expect(data.labReport.metadata).toEqual({
    dob: null,
    dobRaw: '04/12/1988',
    reportedOn: '2025-06-02',
    reportedOnRaw: '2025-06-02T23:00:00-05:00',
    collectedOn: null,
    collectedOnRaw: '2025-06-02x',
  });
});
