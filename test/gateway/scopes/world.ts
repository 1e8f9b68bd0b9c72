import { type LabOptions, serviceKey } from '../../support/lab.ts';
import { type SpoiltLab, startSpoiltLab } from '../../support/spoilt-lab.ts';
import { meet, type Person } from '../isolation/people.ts';

/** Somebody who has something of everything that the graph can show. */
export interface Owner extends Person {
  readonly orderIds: readonly string[];
  readonly labTestId: string;
}

export interface World extends SpoiltLab {
  readonly owner: Owner;
}

/** The first person of the sandbox, who has orders of all kinds, with the values that the sandbox itself does not give. */
export async function startWorld(options: Pick<LabOptions, 'make'> = {}): Promise<World> {
  const lab = await startSpoiltLab({ env: { RATE_LIMIT_POINTS: '0' }, ...options });
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  const kinds = /completed$|with_customer|appointment_scheduled/;
  const own = lab.sandbox.orders().filter((order) => order.userId === userId && kinds.test(order.status));
  const orderIds = own.map(({ orderId }) => orderId);
  const [orderId = ''] = orderIds;
  await wear(lab, userId);
  await enrichAll(lab, { userId, orderId });
  const person = await meet(lab, { userId, orderId });
  await lab.sandbox.webhooks.settled();
  const { data } = await lab.query(`{ order(id: "${orderId}") { labTest { id } } }`);
  return { ...lab, owner: { ...person, orderIds, labTestId: data.order.labTest.id } };
}

/** Something of every kind of health data comes by webhook. */
async function wear({ sandbox, serviceUrl }: SpoiltLab, userId: string): Promise<void> {
  await fetch(`${serviceUrl}/sandbox/wearables`, {
    method: 'POST',
    headers: { 'x-service-api-key': serviceKey, 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: userId }),
  });
  const profile = { id: 'profile', birth_date: '1990-01-01' };
  sandbox.webhooks.send('daily.data.profile.created', profile, { userId });
  await sandbox.webhooks.settled();
}

type Row = Readonly<Record<string, unknown>>;

const proxy = { first_name: 'Robin', last_name: 'Example', email: 'robin@example.com', address: {} };
const fallback = { value: '1990-01-01', id: 'America/Phoenix', updated_at: '2025-01-01T00:00:00Z' };
const fault = {
  error_type: 'token_refresh_failed',
  error_message: 'Gone.',
  errored_at: '2025-01-01T00:00:00Z',
};

async function enrichAll(
  lab: SpoiltLab,
  { userId, orderId }: { readonly userId: string; readonly orderId: string },
): Promise<void> {
  const enrich = async (path: string, more: (row: Row) => Row) => {
    const body = JSON.stringify(more(rowOf(await lab.peek(path))));
    lab.sandbox.faults.add({ path: new RegExp(`${path}$`), effect: { kind: 'answer', status: 200, body } });
  };
  await enrich(`/v2/user/${userId}`, (user) => ({
    ...user,
    fallback_birth_date: fallback,
    fallback_time_zone: fallback,
  }));
  await enrich(`/v3/order/${orderId}`, (order) => ({
    ...order,
    patient_details: { ...rowOf(order.patient_details), medical_proxy: proxy },
    physician: { first_name: 'Ada', last_name: 'Example', npi: '1234567890' },
  }));
  await enrich(`/v2/user/providers/${userId}`, ({ providers }) => ({
    providers: Array.isArray(providers) ? providers.map((each) => ({ ...each, error_details: fault })) : [],
  }));
}

function rowOf(json: unknown): Row {
  return typeof json === 'object' && json !== null ? { ...json } : {};
}
