import { type ClassElement, type MethodDefinition, type PropertyDefinition, parseSync } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import type { ElementContract } from '../../../widget/build/contract/types.ts';
import { contract } from '../../../widget/build/contract.ts';
import { toCustomElements, toReference, toVsCodeData, toWebTypes } from '../../../widget/build/manifests.ts';
import packageText from '../../../widget/package.json?raw';
import clientSource from '../../../widget/src/elements/client-element.ts?raw';
import orderSource from '../../../widget/src/elements/order-element.ts?raw';
import gatewaySource from '../../../widget/src/elements/portal-gateway.ts?raw';
import widgetSource from '../../../widget/src/elements/widget-element.ts?raw';
import { PortalGateway, PortalLaunch, PortalOrderStatus, PortalResults } from '../../../widget/src/index.ts';
import launchSource from '../../../widget/src/launch/portal-launch.ts?raw';
import resultsSource from '../../../widget/src/results/portal-results.ts?raw';
import sharedSource from '../../../widget/src/status/portal-element.ts?raw';
import statusSource from '../../../widget/src/status/portal-order-status.ts?raw';

/** Each element with its class, and the sources it is made of, base first. */
const ELEMENTS = contract.map((element) => ({ element, ...partsOf(element) }));

function partsOf({ className }: ElementContract) {
  if (className === 'PortalLaunch')
    return {
      made: PortalLaunch,
      sources: [widgetSource, clientSource, orderSource, sharedSource, launchSource],
    };
  if (className === 'PortalOrderStatus')
    return {
      made: PortalOrderStatus,
      sources: [widgetSource, clientSource, orderSource, sharedSource, statusSource],
    };
  if (className === 'PortalResults')
    return { made: PortalResults, sources: [widgetSource, clientSource, orderSource, resultsSource] };
  return { made: PortalGateway, sources: [widgetSource, gatewaySource] };
}

/** What a class says of itself in its source, without what is private, protected, static or the browser's. */
interface Member {
  readonly name: string;
  readonly kind: 'property' | 'getter' | 'method';
  readonly type: string;
}

/** Called by the browser, or between the elements. */
const INTERNAL = [
  'constructor',
  'connectedCallback',
  'disconnectedCallback',
  'connectedMoveCallback',
  'adoptedCallback',
  'attributeChangedCallback',
  'addDependant',
];

function isMember(node: ClassElement): node is PropertyDefinition | MethodDefinition {
  return node.type === 'PropertyDefinition' || node.type === 'MethodDefinition';
}

function membersOf(source: string): readonly Member[] {
  const { program } = parseSync('element.ts', source);
  const classes = program.body.flatMap((node) =>
    node.type === 'ExportNamedDeclaration' && node.declaration?.type === 'ClassDeclaration'
      ? node.declaration
      : [],
  );
  return classes.flatMap(({ body }) =>
    body.body.flatMap((member): Member | readonly [] => {
      if (!isMember(member)) return [];
      if (member.static || member.accessibility || member.key.type !== 'Identifier') return [];
      const { name } = member.key;
      return INTERNAL.includes(name) ? [] : { name, kind: kindOf(member), type: typeOf(member, source) };
    }),
  );
}

function kindOf(member: PropertyDefinition | MethodDefinition): Member['kind'] {
  if (!('kind' in member)) return 'property';
  return member.kind === 'get' ? 'getter' : 'method';
}

/** The type as it is written. */
function typeOf(member: PropertyDefinition | MethodDefinition, source: string): string {
  const annotation = 'kind' in member ? member.value.returnType : member.typeAnnotation;
  const span = annotation?.typeAnnotation;
  return span ? source.slice(span.start, span.end) : '';
}

function byName<Item extends { readonly name: string }>(items: readonly Item[]): readonly Item[] {
  return items.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** What all the sources say of one kind of member; the class itself overrides its base. */
function find(sources: readonly string[], kind: Member['kind']): readonly (readonly [string, string])[] {
  const found = new Map(
    sources
      .flatMap(membersOf)
      .filter((member) => member.kind === kind)
      .map(({ name, type }) => [name, type]),
  );
  return [...found].toSorted();
}

const pairs = (items: readonly { readonly name: string; readonly type: string }[]) =>
  byName(items).map(({ name, type }) => [name, type]);

describe.each(ELEMENTS)('the contract of <$element.tag>', ({ element, made, sources }) => {
  test('names the attributes and properties that the element has, and no other', () => {
    expect(made.observedAttributes.filter((name) => name !== 'token').toSorted()).toEqual(
      element.properties.flatMap(({ attribute }) => attribute ?? []).toSorted(),
    );
    expect(byName(element.properties).map(({ name, attribute }) => [name, attribute])).toEqual(
      [...made.elementProperties]
        .map(([name, { attribute }]) => [name, attribute === false ? null : (attribute ?? name)])
        .toSorted(),
    );
  });

  test('has the types, what is read only and the methods that the source has', () => {
    expect(pairs(element.properties)).toEqual(find(sources, 'property'));
    // Every LitElement has `updateComplete`.
    const own = element.readonlyProperties.filter(({ name }) => name !== 'updateComplete');
    expect(pairs(own)).toEqual(find(sources, 'getter'));
    const methods = find(sources, 'method').map(([name]) => name);
    expect(byName(element.methods).map(({ name }) => name)).toEqual(methods);
  });

  test('names the events that its source sends, and no other', () => {
    const sent = sources.flatMap((source) =>
      [...source.matchAll(/emit\(this, '([\w-]+)'/g)].map(([, name = '']) => name),
    );

    expect(element.events.map(({ name }) => name).toSorted()).toEqual(
      [...new Set([...sent, 'portal-token-request'])].toSorted(),
    );
  });
});

describe('what is made of the contract', () => {
  test.each([
    ['custom-elements.json', toCustomElements(contract)],
    ['web-types.json', toWebTypes(contract, JSON.parse(packageText))],
    ['vscode.html-custom-data.json', toVsCodeData(contract)],
  ])('is what was built: %s', async (file, made) => {
    const address = new URL(`../../../widget/dist/${file}`, import.meta.url).href;
    const built = await import(/* @vite-ignore */ address, { with: { type: 'json' } });

    expect(built.default).toEqual(made);
  });

  test('names everything in each manifest', () => {
    const everything = contract.flatMap((element) => [
      element.tag,
      ...element.properties.flatMap(({ name, attribute }) => [name, attribute ?? name]),
      ...[element.events, element.slots, element.parts, element.cssProperties].flat().map(({ name }) => name),
    ]);
    const names = new Set(everything);

    for (const manifest of [toCustomElements(contract), toWebTypes(contract, { name: '', version: '' })]) {
      const written = JSON.stringify(manifest);
      expect([...names].filter((name) => !written.includes(JSON.stringify(name)))).toEqual([]);
    }
  });

  test('is the reference in the documents; `vitest -u` writes it anew', async () => {
    await expect(toReference(contract)).toMatchFileSnapshot('../../../docs/widget-reference.md');
  });
});
