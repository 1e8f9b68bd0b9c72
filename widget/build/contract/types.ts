/** One property, with the attribute that sets it, or null. `type` is TypeScript; `values` are those of a closed set. */
export interface Property {
  readonly name: string;
  readonly attribute: string | null;
  readonly type: string;
  readonly fallback: string;
  readonly text: string;
}

/** Something with a name and a meaning. */
export interface Named {
  readonly name: string;
  readonly text: string;
}

/** A property that is read, a method, or an event with the type of its `detail`. */
export interface Typed extends Named {
  readonly type: string;
}

/** A custom property with its default, as CSS. */
export interface CssProperty extends Named {
  readonly fallback: string;
}

/** One element. */
export interface ElementContract {
  readonly tag: string;
  readonly className: string;
  readonly file: string;
  readonly text: string;
  readonly properties: readonly Property[];
  readonly readonlyProperties: readonly Typed[];
  readonly methods: readonly Typed[];
  readonly events: readonly Typed[];
  readonly slots: readonly Named[];
  readonly parts: readonly Named[];
  readonly states: readonly Named[];
  readonly cssProperties: readonly CssProperty[];
}
