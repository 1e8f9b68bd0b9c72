import styles from './styles.css?inline';

/** One property: its attribute or null, its default, and how the attribute's text is parsed. */
type Property = readonly [attribute: string | null, fallback: unknown, read?: (text: string) => unknown];

/** The properties of one kind of element by name. */
export type Properties = Readonly<Record<string, Property>>;

/** On a server there is nothing to extend, and importing must not fail. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** A document takes only sheets that were made in it. */
const sheets = new WeakMap<Document, CSSStyleSheet>();

function readSheet(page: Document, view: typeof globalThis): CSSStyleSheet {
  let sheet = sheets.get(page);
  if (!sheet) {
    sheet = new view.CSSStyleSheet();
    sheet.replaceSync(styles);
    sheets.set(page, sheet);
  }
  return sheet;
}

/**
 * A small base class for elements: properties with attributes, and one update per microtask. A value that was set before
 * the element was upgraded stays.
 */
export abstract class WidgetElement extends Base {
  declare static observedAttributes: readonly string[];
  declare static properties: Properties;
  /** Current values of the properties; only `declareProperties` reads and writes it. */
  readonly propertyValues: Record<string, unknown> = {};
  protected readonly internals = this.attachInternals();
  protected readonly root: ShadowRoot;
  #update: Promise<void> | null = null;
  /** Values set before the upgrade. They are newer than the attributes, which the browser reports only after it. */
  readonly #early = new Set<string>();

  constructor(delegatesFocus: boolean) {
    super();
    this.root = this.attachShadow({ mode: 'open', delegatesFocus });
    this.adoptedCallback();
    for (const [name, [, fallback]] of Object.entries(this.#properties)) {
      this.propertyValues[name] = fallback;
      if (!Object.hasOwn(this, name)) continue;
      this.#early.add(name);
      this.propertyValues[name] = Reflect.get(this, name);
      Reflect.deleteProperty(this, name);
    }
  }

  /** Settles when the screen is up to date. */
  get updateComplete(): Promise<void> {
    return this.#update ?? Promise.resolve();
  }

  connectedCallback(): void {
    this.#early.clear();
    this.requestUpdate();
  }

  /** In another document, or back from one: the browser has taken the styles off. */
  adoptedCallback(): void {
    const page = this.ownerDocument;
    // Without a window it is only a store, as that of a template, and shows nothing.
    if (page.defaultView) this.root.adoptedStyleSheets = [readSheet(page, page.defaultView)];
  }

  attributeChangedCallback(name: string, _previous: string | null, text: string | null): void {
    if (name === 'token') {
      if (text === null) return;
      // Markup ends up in logs, caches and other people's tools.
      this.removeAttribute(name);
      this.tokenRemoved();
      return;
    }
    for (const [property, [attribute, fallback, read = String]] of Object.entries(this.#properties)) {
      if (attribute !== name || this.#early.has(property)) continue;
      Reflect.set(this, property, text === null ? fallback : read(text));
    }
  }

  /** Draws the element in this turn's microtasks, once however often it is asked for. */
  requestUpdate(): void {
    this.#update ??= Promise.resolve().then(() => {
      this.#update = null;
      if (this.isConnected) this.update();
    });
  }

  get #properties(): Properties {
    return (this.constructor as typeof WidgetElement).properties;
  }

  protected abstract update(): void;
  protected abstract tokenRemoved(): void;
}

/**
 * Gives a kind of element its properties, beside those it inherits. As accessors on the prototype, where frameworks
 * look for them. To be called once, by the class itself.
 */
export function declareProperties(element: typeof WidgetElement, properties: Properties): void {
  element.properties = { ...element.properties, ...properties };
  const attributes = Object.values(element.properties).flatMap(([attribute]) => attribute ?? []);
  element.observedAttributes = ['token', ...attributes];
  for (const name of Object.keys(properties)) {
    Object.defineProperty(element.prototype, name, {
      get(this: WidgetElement) {
        return this.propertyValues[name];
      },
      set(this: WidgetElement, value: unknown) {
        this.propertyValues[name] = value;
        this.requestUpdate();
      },
      enumerable: true,
      configurable: true,
    });
  }
}
