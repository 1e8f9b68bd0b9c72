import { defaultFieldResolver, type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql';
import { type Permission, type Scope, scopes } from '../auth/rights.ts';
import type { GraphContext } from './context.ts';

type Alternatives = readonly (readonly Permission[])[];

interface Unless<Parent> {
  /** Completes "Viewer tokens need the scope read:profile unless ...". */
  readonly words: string;
  readonly holds: (parent: Parent) => boolean;
}

/** What a field needs of its caller. It is stored in the field's extensions, checked, described and printed from there. */
export class Needs {
  /** One of these lists is enough; of a list everything is needed. */
  readonly #alternatives: Alternatives;
  readonly #unless: Unless<never> | null;

  constructor(alternatives: Alternatives, unless: Unless<never> | null = null) {
    this.#alternatives = alternatives;
    this.#unless = unless;
  }

  /** The scopes in the form of `@requiresScopes`; empty where a gateway key is needed. */
  get scopes(): readonly (readonly Scope[])[] {
    return this.#alternatives
      .map((all) => all.flatMap((permission) => toScope(permission) ?? []))
      .filter((all) => all.length > 0);
  }

  /** For the field's description. */
  get sentence(): string {
    if (this.#alternatives.some((all) => all.includes('gateway-key'))) return 'Only for gateway keys.';
    const needed = this.scopes.map((all) => all.join(' and ')).join(', or ');
    const noun = this.scopes.flat().length === 1 ? 'scope' : 'scopes';
    const limit = this.#alternatives.some((all) => all.includes('new-orders'))
      ? ' and must not be limited to some orders'
      : '';
    const unless = this.#unless === null ? '' : ` unless ${this.#unless.words}`;
    return `Viewer tokens need the ${noun} ${needed}${limit}${unless}.`;
  }

  /** @throws GatewayError FORBIDDEN */
  require({ service: { rights } }: GraphContext, parent: unknown): void {
    // The parent is that of the field which declares this.
    if (this.#unless?.holds(parent as never)) return;
    if (this.#alternatives.some((all) => all.every((permission) => rights.has(permission)))) return;
    for (const permission of this.#alternatives[0] ?? []) rights.require(permission);
  }
}

function toScope(permission: Permission): Scope | undefined {
  return permission === 'new-orders' ? 'write:orders' : scopes.find((scope) => scope === permission);
}

/**
 * Declares what a field needs of its caller: `extensions: needs('read:profile')`. Without it the field is FORBIDDEN. Its
 * description gets a sentence about it, and schema.graphql the directive `@requiresScopes`.
 */
export function needs(...permissions: readonly Permission[]) {
  return { needs: new Needs([permissions]) };
}

/** The same where one of several lists of permissions is enough. */
export function needsOneOf(...alternatives: Alternatives) {
  return { needs: new Needs(alternatives) };
}

/** The same for some parents only. */
export function needsUnless<Parent>(
  permission: Permission,
  words: string,
  holds: (parent: Parent) => boolean,
) {
  return { needs: new Needs([[permission]], { words, holds }) };
}

/** What a field needs; undefined where it needs nothing. */
export function needsOf({ extensions }: GraphQLField): Needs | undefined {
  return extensions.needs instanceof Needs ? extensions.needs : undefined;
}

/** Makes every field that declares its needs check them before it resolves or subscribes, and say so. */
export function requirePermissions(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const needed = needsOf(field);
      if (needed !== undefined) guard(field, needed);
    }
  }
  return schema;
}

function guard(field: GraphQLField<unknown, GraphContext>, needed: Needs): void {
  field.description = `${field.description} ${needed.sentence}`;
  const { resolve = defaultFieldResolver, subscribe } = field;
  if (subscribe === undefined) {
    field.resolve = (parent, args, context, info) => {
      needed.require(context, parent);
      return resolve(parent, args, context, info);
    };
    return;
  }
  field.subscribe = (parent, args, context, info) => {
    needed.require(context, parent);
    return subscribe(parent, args, context, info);
  };
}
