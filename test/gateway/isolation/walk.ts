import { nodeIdOf } from '../../support/node-id.ts';
import type { SpoiltLab } from '../../support/spoilt-lab.ts';
import { type Place, type Variables, valueAt, withValue } from './places.ts';
import { wiresFor } from './wires.ts';

/** One operation of somebody. */
export interface Try {
  /** Names the field and what is tried. */
  readonly title: string;
  readonly field: string;
  readonly document: string;
  readonly token: string;
  readonly variables: Variables;
}

/** A try with ids of somebody else. */
interface Trespass extends Try {
  /** The places of these ids. */
  readonly at: readonly Place[];
  /** Texts that identify somebody else, in lower case. */
  readonly secrets: readonly string[];
  /** What the answer must contain, so that two equal answers are not two faults of the walk. */
  readonly says?: RegExp;
  /** What must stay as it is; left out, the service must not be asked to change anything. */
  readonly stored?: () => unknown;
}

/** Calls that change nothing, though they are no GET. */
const reads = /^GET |list_order_set_markers|availability/;

const writesOf = ({ sandbox }: SpoiltLab) => sandbox.calls.filter((call) => !reads.test(call));

/** What is wrong with a trespass: a sentence for each way in which another's thing differs from nobody's. */
export async function* findDifferences(lab: SpoiltLab, trespass: Trespass): AsyncGenerator<string> {
  const { title, field, token, document: query, variables, at } = trespass;
  for (const [name, wire] of wiresFor(field, variables)) {
    const nobodys = at.reduce(
      (given, place) => withValue(given, place, inventedLike(valueAt(given, place.path))),
      variables,
    );
    lab.sandbox.clearCalls();
    const before = JSON.stringify(trespass.stored?.());
    const result = without(await wire(lab.url, { token, query, variables }), variables, at);
    const resultOfNobody = without(await wire(lab.url, { token, query, variables: nobodys }), nobodys, at);
    if (result !== resultOfNobody)
      yield `${title}, over ${name}: another's is answered ${result}, nobody's ${resultOfNobody}`;
    if (trespass.says?.test(result) === false) yield `${title}, over ${name}: is answered ${result}`;
    yield* findLeaks(trespass, name, `${result}${resultOfNobody}`);
    const isChanged = trespass.stored
      ? JSON.stringify(trespass.stored()) !== before
      : writesOf(lab).length > 0;
    if (isChanged) yield `${title}, over ${name}: changes something, with ${writesOf(lab).join(', ')}`;
  }
}

/** The faults where another's id may be used: a sentence for each wire that discloses something of them. */
export async function* findShown(lab: SpoiltLab, trespass: Omit<Trespass, 'at'>): AsyncGenerator<string> {
  const { field, token, document: query, variables } = trespass;
  for (const [name, wire] of wiresFor(field, variables)) {
    yield* findLeaks(trespass, name, await wire(lab.url, { token, query, variables }));
  }
}

function* findLeaks(
  { title, secrets }: Omit<Trespass, 'at'>,
  wire: string,
  result: string,
): Generator<string> {
  const leaked = secrets.filter((secret) => result.toLowerCase().includes(secret));
  if (leaked.length > 0) yield `${title}, over ${wire}: discloses ${leaked.join(' and ')} of somebody else`;
}

/** What is wrong with a try of one's own: if that fails, it says nothing that another's fails. */
export async function* findFailures(
  lab: SpoiltLab,
  { title, field, token, document: query, variables }: Try,
  isGood: (answer: string) => boolean,
): AsyncGenerator<string> {
  for (const [name, wire] of wiresFor(field, variables)) {
    const result = await wire(lab.url, { token, query, variables });
    if (!isGood(result)) yield `${title}, over ${name}: one's own is answered ${result}`;
  }
}

/** An id of the same form that is nobody's. */
function inventedLike(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inventedLike);
  if (typeof value !== 'string') throw new Error('A trespass gives the id of somebody.');
  const [, type] = /^(\w+):[0-9a-f]{8}-/.exec(Buffer.from(value, 'base64url').toString()) ?? [];
  if (type !== undefined) return nodeIdOf(type, crypto.randomUUID());
  return /^[0-9a-f]{8}-/i.test(value) ? crypto.randomUUID() : `nobodys-${crypto.randomUUID()}`;
}

/** The answer without the ids that were asked for: the sender may see them again. */
function without(answer: string, variables: Variables, at: readonly Place[]): string {
  const sent = at.flatMap(({ path }) => valueAt(variables, path)).map(String);
  return sent.reduce((text, id) => text.replaceAll(new RegExp(RegExp.escape(id), 'gi'), 'ID'), answer);
}
