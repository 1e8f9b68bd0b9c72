import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contract } from '../../../widget/build/contract.ts';
import { LONG_RESULT_STATES, RESULT_SECTIONS } from '../../../widget/gallery/result-states.ts';
import { SECTIONS } from '../../../widget/gallery/states.ts';
import type { ClientElement } from '../../../widget/src/elements/client-element.ts';
import styles from '../../../widget/src/elements/styles.css?raw';
import type { PortalElement } from '../../../widget/src/status/portal-element.ts';
import '../../../widget/src/results/define.ts';

/** What was seen of one kind of element in all states of the gallery. */
interface Seen {
  readonly slots: Set<string>;
  readonly parts: Set<string>;
  readonly states: Set<string>;
}

const { add } = CustomStateSet.prototype;
const states = new Set<string>();

beforeEach(() => {
  states.clear();
  CustomStateSet.prototype.add = function (state) {
    states.add(state);
    return add.call(this, state);
  };
});

afterEach(() => {
  CustomStateSet.prototype.add = add;
  document.body.replaceChildren();
});

/** A launch shows everything that a status shows. */
function as(tag: string, element: PortalElement): PortalElement {
  if (element.localName === tag) return element;
  const launch = document.createElement('portal-launch');
  const { client, orderId, live, privacy, status } = element;
  return Object.assign(launch, { client, orderId, live, privacy, status: status ?? 'text' });
}

/** Brings every state of the gallery on the page, and looks at all elements of this kind. */
async function look(tag: string): Promise<Seen> {
  const seen: Seen = { slots: new Set(), parts: new Set(), states };
  if (tag === 'portal-results') {
    for (const { make, act } of [...Object.values(RESULT_SECTIONS).flat(), ...LONG_RESULT_STATES])
      await lookAt(make(), act, seen);
    return seen;
  }
  for (const { make, act } of SECTIONS.flatMap((section) => section.states)) {
    const made = make();
    if (made.localName === tag || tag === 'portal-launch') await lookAt(as(tag, made), act, seen);
  }
  return seen;
}

async function lookAt<Shown extends ClientElement>(
  element: Shown,
  act: ((element: Shown) => unknown) | undefined,
  seen: Seen,
): Promise<void> {
  document.body.append(element);
  await element.updateComplete;
  collect(element, seen);
  const acted = act?.(element);
  await element.updateComplete;
  collect(element, seen);
  // A launch that opens for ever is not waited for.
  if (element.localName === 'portal-results') await acted;
  await new Promise((resolve) => setTimeout(resolve));
  await element.updateComplete;
  collect(element, seen);
  element.remove();
}

function collect({ shadowRoot }: Element, { slots, parts }: Seen): void {
  for (const slot of shadowRoot?.querySelectorAll('slot') ?? []) {
    slots.add(slot.name.replace(/^error-.+/, 'error-<code>'));
  }
  for (const node of shadowRoot?.querySelectorAll('[part]') ?? []) {
    for (const part of node.part) parts.add(part);
  }
  // Also named where a host styles it, but it is only there while no one does.
  const frame = shadowRoot?.querySelector('.frame');
  if (frame) parts.add('frame');
}

const names = (items: Iterable<string>) => [...items].toSorted();
const namesOf = (items: readonly { readonly name: string }[]) => names(items.map(({ name }) => name));

describe.each(contract)('the contract of <$tag>', ({ tag, properties }) => {
  test('names the default of every property', () => {
    const element = document.createElement(tag);
    const quote = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));

    expect(properties.map(({ name }) => [name, quote(Reflect.get(element, name))])).toEqual(
      properties.map(({ name, fallback }) => [name, fallback]),
    );
  });
});

describe.each(contract.filter(({ states }) => states.length > 0))('the contract of <$tag>', (element) => {
  test('names the slots, parts and states that the gallery shows, and no other', async () => {
    const seen = await look(element.tag);

    expect(names(seen.slots)).toEqual(namesOf(element.slots));
    expect(names(seen.parts)).toEqual(namesOf(element.parts));
    expect(names(seen.states)).toEqual(namesOf(element.states));
  });
});

test('the contract names the custom properties of the style sheet with their defaults, and no other', () => {
  // Old browsers have defaults of their own.
  const uses = styles
    .replace(/@supports not .*\{(?:.|\n)*?\n\}/, '')
    .matchAll(/var\((--portal-[\w-]+), ((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)/g);
  const found = Object.fromEntries([...uses].map(([, name = '', fallback]) => [name, fallback]));
  const named = contract.flatMap(({ cssProperties }) => cssProperties);
  const all = new Set(Array.from(styles.matchAll(/--portal-[\w-]+/g), ([name]) => name));

  expect([...all].filter((name) => !(name in found))).toEqual([]);
  expect(Object.keys(found).length).toBeGreaterThan(8);
  expect(Object.fromEntries(named.map(({ name, fallback }) => [name, fallback]))).toEqual(found);
});
