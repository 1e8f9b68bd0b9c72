import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import type { SpoiltLab } from '../../support/spoilt-lab.ts';
import type { Person } from './people.ts';
import { schema } from './places.ts';
import { type Treatment, table } from './table.ts';

type Field = GraphQLField<unknown, unknown>;

/** A field that leads from one thing to a user or an order, and how to come there. */
interface Lead {
  readonly coordinate: string;
  readonly document: string;
}

/** How each person is asked for: by what they are, and to whom and what that leads on. */
const who: Readonly<Record<string, string>> = {
  User: '{ __typename id orders(first: 20) { nodes { __typename id } } }',
  Order: '{ __typename id userId user { __typename id } }',
};
/** Ids of people and orders inside other objects. */
const namesSomebody = /^(userId|orderId|parentId|existingUserId)$/;
/** Types whose `id` is of a user or an order. */
const isSomebody = /^(User|Order|OrderInTransaction)$/;

/** The operations that follow every field of the graph which leads to a user or an order, once each. */
export function leadsFor(person: Person): readonly Lead[] {
  const query = schema.getQueryType();
  if (!query) throw new Error('The schema has no queries.');
  const roots = Object.values(query.getFields()).flatMap((field) => {
    const call = callOf(field, 'Query', person);
    return call === null ? [] : [{ type: getNamedType(field.type), path: [call] }];
  });
  // What belongs to the user is walked from there; the other ways in show what is left.
  const waiting = roots.toSorted((a, b) => Number(isUser(b.path)) - Number(isUser(a.path)));
  const seen = new Set<string>();
  const leads: Lead[] = [];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { type, path } = next;
    if (!isObjectType(type) || seen.has(type.name)) continue;
    seen.add(type.name);
    leads.push(...leadsFrom(type, path));
    const further = fieldsOf(type).map((field) => ({
      type: getNamedType(field.type),
      path: [...path, callOf(field, type.name, person) ?? ''],
    }));
    // Nearer types first, but all that the user leads to before the other ways in.
    const others = waiting.findIndex(({ path: [root = ''] }) => root !== path[0]);
    waiting.splice(others === -1 ? waiting.length : others, 0, ...further);
  }
  return leads;
}

const isUser = ([root = '']: readonly string[]) => root.startsWith('user(');

/** Fields that can be asked without knowing more. */
function fieldsOf(type: GraphQLObjectType): readonly Field[] {
  return Object.values(type.getFields()).filter(({ args }) => !args.some(isRequiredArgument));
}

/** The field as a document calls it, with what the person would give; null where it takes what nobody owns. */
function callOf({ name, args }: Field, parent: string, person: Person): string | null {
  const required = args.filter(isRequiredArgument).map((argument) => {
    const row: Treatment | undefined = table[`${parent}.${name}(${argument.name}:)`];
    return row?.kind === 'owned' ? `${argument.name}: ${JSON.stringify(row.of(person))}` : null;
  });
  if (required.includes(null)) return null;
  const all = args.some((argument) => argument.name === 'first') ? [...required, 'first: 20'] : required;
  return all.length === 0 ? name : `${name}(${all.join(', ')})`;
}

function leadsFrom(type: GraphQLObjectType, path: readonly string[]): readonly Lead[] {
  const asking = (selection: string) =>
    `query { result: ${path.map((call) => `${call} {`).join(' ')} __typename ${selection} ${'}'.repeat(path.length + 1)}`;
  return fieldsOf(type).flatMap((field) => {
    const coordinate = `${type.name}.${field.name}`;
    const target = who[getNamedType(field.type).name];
    if (target !== undefined) return [{ coordinate, document: asking(`lead: ${field.name} ${target}`) }];
    const isTheirId = field.name === 'id' && isSomebody.test(type.name);
    if (!isTheirId && !namesSomebody.test(field.name)) return [];
    return [{ coordinate, document: asking(`lead: ${field.name}`) }];
  });
}

/** Whom a person may meet. */
export interface Circle {
  readonly self: Person;
  readonly orderIds: readonly string[];
  /** Texts that identify anybody else, in lower case. */
  readonly secrets: readonly string[];
}

/**
 * What is wrong with what a caller comes to by following the graph from what is their own.
 * @param onSeen called with each field that led to somebody
 */
export async function* findStrangers(
  lab: SpoiltLab,
  { self, orderIds, secrets }: Circle,
  onSeen: (coordinate: string) => void = () => {},
): AsyncGenerator<string> {
  const known = new Set([self.userId, ...orderIds]);
  for (const { coordinate, document } of leadsFor(self)) {
    const { data, errors } = await lab.query(document, { token: self.token });
    const met = idsIn(data);
    if (met.some(({ isLead }) => isLead)) onSeen(coordinate);
    const strangers = met.map(({ id }) => id).filter((id) => !known.has(id));
    const text = JSON.stringify([data, errors]).toLowerCase();
    const leaked = secrets.filter((secret) => text.includes(secret));
    const all = [...new Set([...strangers, ...leaked])];
    if (all.length > 0) yield `${coordinate} leads to ${all.join(' and ')} of somebody else`;
  }
}

/** From now on the service mixes up whose orders are whose: every list and every appointment names the stranger. */
export async function mixUp(lab: SpoiltLab, userId: string, stranger: Pick<Person, 'userId' | 'orderId'>) {
  const foreign = await lab.peek(`/v3/order/${stranger.orderId}`);
  const { orders, ...page } = (await lab.peek(`/orders?user_id=${userId}&size=100`)) as OrdersPage;
  const mixed = orders.map((order) => {
    const inTransaction = { id: stranger.orderId, parent_id: stranger.orderId, low_level_status: 'ordered' };
    const { orders: related, ...transaction } = order.order_transaction;
    const strange = related.map((each) => ({ ...each, parent_id: stranger.orderId }));
    return { ...order, order_transaction: { ...transaction, orders: [...strange, inTransaction] } };
  });
  const answer = (body: unknown) => ({ kind: 'answer', status: 200, body: JSON.stringify(body) }) as const;
  lab.sandbox.faults.add({ path: '/orders', effect: answer({ ...page, orders: [...mixed, foreign] }) });
  const appointment = { id: crypto.randomUUID(), user_id: stranger.userId, order_id: stranger.orderId };
  lab.sandbox.faults.add({ path: /\/appointment$/, effect: answer({ ...appointment, status: 'confirmed' }) });
}

interface OrdersPage {
  readonly orders: readonly { readonly order_transaction: { readonly orders: readonly object[] } }[];
}

interface Met {
  readonly id: string;
  /** Whether it is at the field that was followed. */
  readonly isLead: boolean;
}

/** The ids of users and orders in an answer. */
function idsIn(value: unknown, isLead = false): readonly Met[] {
  if (Array.isArray(value)) return value.flatMap((each) => idsIn(each, isLead));
  if (typeof value !== 'object' || value === null) return [];
  const hasTheirId = '__typename' in value && isSomebody.test(String(value.__typename));
  return Object.entries(value).flatMap(([key, each]): readonly Met[] => {
    const isHere = isLead || key === 'lead';
    const isId = key === 'lead' || namesSomebody.test(key) || (key === 'id' && hasTheirId);
    return typeof each === 'string' && isId ? [{ id: each, isLead: isHere }] : idsIn(each, isHere);
  });
}
