import { describeDetail } from './contract/details.ts';
import type { ElementContract, Property } from './contract/types.ts';

/** The package's own entry in the manifests. */
export interface Package {
  readonly name: string;
  readonly version: string;
}

/** The values of a closed set of texts; none where any text will do. */
function valuesOf({ type }: Property): readonly string[] {
  return [...type.matchAll(/'(\w+)'/g)].map(([, value = '']) => value);
}

/** `custom-elements.json`, schema 2.1.0 of the Custom Elements Manifest. */
export function toCustomElements(elements: readonly ElementContract[]): object {
  return {
    schemaVersion: '2.1.0',
    modules: elements.map((element) => ({
      kind: 'javascript-module',
      path: 'dist/modules/index.js',
      declarations: [toDeclaration(element)],
      exports: [
        { kind: 'js', name: element.className, declaration: { name: element.className } },
        { kind: 'custom-element-definition', name: element.tag, declaration: { name: element.className } },
      ],
    })),
  };
}

function toDeclaration(element: ElementContract): object {
  const { tag, className, text, properties, readonlyProperties, methods } = element;
  const describe = ({ name, text: description }: { readonly name: string; readonly text: string }) => ({
    name,
    description,
  });
  const fields = [
    ...properties.map((property) => ({
      kind: 'field',
      ...describe(property),
      type: { text: property.type },
      default: property.fallback,
      ...(property.attribute ? { attribute: property.attribute } : {}),
    })),
    ...readonlyProperties.map((property) => ({
      kind: 'field',
      ...describe(property),
      type: { text: property.type },
      readonly: true,
    })),
    ...methods.map((method) => ({
      kind: 'method',
      ...describe(method),
      return: { type: { text: method.type } },
    })),
  ];
  return {
    kind: 'class',
    customElement: true,
    name: className,
    tagName: tag,
    description: text,
    superclass: { name: 'HTMLElement' },
    members: fields,
    attributes: properties.flatMap((property) =>
      property.attribute
        ? {
            name: property.attribute,
            fieldName: property.name,
            description: property.text,
            type: { text: property.type },
            default: property.fallback,
          }
        : [],
    ),
    events: element.events.map((event) => ({ ...describe(event), type: { text: event.type } })),
    slots: element.slots.map(describe),
    cssParts: element.parts.map(describe),
    cssStates: element.states.map(describe),
    cssProperties: element.cssProperties.map((property) => ({
      ...describe(property),
      default: property.fallback,
    })),
  };
}

/** `web-types.json` for JetBrains editors. */
export function toWebTypes(elements: readonly ElementContract[], { name, version }: Package): object {
  const describe = (each: { readonly name: string; readonly text: string }) => ({
    name: each.name,
    description: each.text,
  });
  return {
    $schema: 'https://raw.githubusercontent.com/JetBrains/web-types/master/schema/web-types.json',
    name,
    version,
    'description-markup': 'markdown',
    contributions: {
      html: {
        elements: elements.map((element) => ({
          name: element.tag,
          description: element.text,
          attributes: element.properties.flatMap((property) =>
            property.attribute
              ? {
                  name: property.attribute,
                  description: property.text,
                  default: property.fallback,
                  value: toWebTypesValue(property),
                }
              : [],
          ),
          slots: element.slots.map(describe),
          css: { parts: element.parts.map(describe), properties: element.cssProperties.map(describe) },
          js: {
            properties: element.properties.map((property) => ({
              ...describe(property),
              type: property.type,
            })),
            events: element.events.map((event) => ({ ...describe(event), type: event.type })),
          },
        })),
      },
    },
  };
}

function toWebTypesValue(property: Property): object {
  const values = valuesOf(property);
  if (values.length > 0) return { type: values.map((value) => `'${value}'`) };
  return { type: property.type.replace(' | null', '') };
}

/** `vscode.html-custom-data.json`. */
export function toVsCodeData(elements: readonly ElementContract[]): object {
  return {
    version: 1.1,
    tags: elements.map((element) => ({
      name: element.tag,
      description: element.text,
      attributes: element.properties.flatMap((property) =>
        property.attribute
          ? {
              name: property.attribute,
              description: property.text,
              ...(property.type === 'boolean' ? { valueSet: 'v' } : {}),
              values: valuesOf(property).map((name) => ({ name })),
            }
          : [],
      ),
    })),
  };
}

/** The reference for readers, in Markdown. */
export function toReference(elements: readonly ElementContract[]): string {
  const head = [
    '# Reference: what can I set, call, listen to and style?',
    'Generated from `widget/build/contract.ts`. [Embedding](embedding.md) explains how to use the elements.',
  ];
  return `${[...head, ...elements.flatMap(toSection)].join('\n\n')}\n`;
}

function toSection(element: ElementContract): readonly string[] {
  const { properties, readonlyProperties, methods, events, slots, parts, states } = element;
  const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;
  const tables: readonly (readonly [readonly string[], readonly (readonly string[])[]])[] = [
    [
      ['attribute', 'property', 'type', 'default', 'meaning'],
      properties.map(({ name, attribute, type, fallback, text }) => [
        attribute ? code(attribute) : '',
        code(name),
        code(type),
        code(fallback),
        text,
      ]),
    ],
    [
      ['read only', 'type', 'meaning'],
      readonlyProperties.map(({ name, type, text }) => [code(name), code(type), text]),
    ],
    [
      ['method', 'gives', 'meaning'],
      methods.map(({ name, type, text }) => [code(`${name}()`), code(type), text]),
    ],
    [
      ['event', '`detail`', 'when'],
      events.map(({ name, text }) => {
        const detail = describeDetail(name);
        return [code(name), detail && code(detail), text];
      }),
    ],
    [['slot', 'meaning'], slots.map(({ name, text }) => [name ? code(name) : 'default', text])],
    [['part', 'meaning'], parts.map(({ name, text }) => [code(name), text])],
    [['state', 'meaning'], states.map(({ name, text }) => [code(`:state(${name})`), text])],
    [
      ['custom property', 'default', 'meaning'],
      element.cssProperties.map(({ name, fallback, text }) => [code(name), code(fallback), text]),
    ],
  ];
  const filled = tables.filter(([, rows]) => rows.length > 0);
  return [`## \`<${element.tag}>\``, element.text, ...filled.map(([head, rows]) => toTable(head, rows))];
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
