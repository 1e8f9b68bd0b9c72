import type { InputRef } from '@pothos/core';
import { builder, type DefineFields } from './builder.ts';
import type { GraphContext } from './context.ts';
import { mutationResult, usualRefusals } from './mutation-result.ts';
import { notFound, toRefusal, type UserError } from './user-error.ts';

type Kind = { readonly kind: string };
type ThingRef<Thing> = PothosSchemaTypes.ObjectRef<typeof builder.$inferSchemaTypes, Thing>;
type Member = Parameters<typeof mutationResult>[2][number];

/** The member of a mutation's result for what was done. */
export interface DoneType<Done extends object> {
  readonly name: string;
  readonly ref: Member;
  /** Only a type. */
  readonly shape?: (done: Done) => void;
}

/** Defines the type of what a mutation did. Its values need no `kind`: `addMutation` sets it. */
export function doneType<Done extends object>(
  name: string,
  description: string,
  fields: DefineFields<Done>,
): DoneType<Done> {
  const ref = builder.objectRef<Done & Kind>(name);
  // The fields read no more than a `Done`.
  ref.implement({ description, fields: fields as DefineFields<Done & Kind> });
  return { name, ref };
}

/** The same for a mutation that makes or changes one thing, which `run` returns as it is. */
export function doneThing<Thing extends object>(
  name: string,
  description: string,
  field: {
    readonly name: string;
    readonly type: ThingRef<Thing>;
    readonly description: string;
    /** True when another member of the union has a nullable field of this name: selections of both need one type. */
    readonly nullable?: boolean;
  },
): DoneType<Thing> {
  const type: ThingRef<object> = field.type;
  return doneType<object>(name, description, (t) => ({
    [field.name]: t.field({
      type,
      nullable: field.nullable ?? false,
      description: field.description,
      resolve: (thing) => thing,
    }),
  }));
}

export interface MutationParts<Input extends object, Done extends object> {
  readonly description: string;
  readonly input: InputRef<Input>;
  readonly done: DoneType<Done>;
  /** The word for what is missing when the outcome is null. */
  readonly subject: string;
  /** More members of the result. */
  readonly refusals?: readonly Member[];
  /** The names of fields that differ from the service's, by the service's name. */
  readonly names?: Readonly<Record<string, string>>;
  /** What was done; null = the service does not have what the input names. A refusal of the service is thrown. */
  readonly run: (context: GraphContext, input: Input) => Promise<Done | UserError | null>;
}

/** Adds a mutation with one input, whose result is a union of what was done and of the usual refusals. */
export function addMutation<Input extends object, Done extends object>(
  root: ReturnType<typeof builder.objectRef<object>>,
  name: string,
  parts: MutationParts<Input, Done>,
): void {
  const { done, subject, names, refusals = [] } = parts;
  const typeName = `${name.charAt(0).toUpperCase()}${name.slice(1)}Result`;
  const result = mutationResult(typeName, `The result of ${name}.`, [
    done.ref,
    ...refusals,
    ...usualRefusals,
  ]);
  const run = async (context: GraphContext, input: Input): Promise<Kind> => {
    try {
      const outcome = await parts.run(context, input);
      if (outcome === null) return notFound(subject);
      return 'kind' in outcome ? outcome : { ...outcome, kind: done.name };
    } catch (error) {
      return toRefusal(error, names);
    }
  };
  builder.objectField(root, name, (t) =>
    t.field({
      type: result,
      description: parts.description,
      args: {
        input: t.arg({ type: parts.input, required: true, description: 'What is to be done.' }),
      },
      // Pothos cannot reduce the type of an input that is still open here.
      resolve: (_root, args, context) => run(context, (args as unknown as { readonly input: Input }).input),
    }),
  );
}
