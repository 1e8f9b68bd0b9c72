import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import type { Exchange } from './exchange.ts';
import { type Fault, findFaults, type Resolve, type Schema } from './json-schema.ts';

/** The public service's OpenAPI document, where it lies beside the project or SERVICE_OPENAPI names it. */
export interface ServiceDocument {
  /** `POST /v3/order/testkit` for each operation, with `{name}` for parts of the path. */
  readonly operations: readonly string[];
  /** The operation of a request; undefined where the document has none. */
  readonly operationOf: (asked: Pick<Exchange, 'method' | 'path'>) => string | undefined;
  readonly findRequestFaults: (asked: Exchange) => readonly Fault[];
  readonly findResponseFaults: (answered: Exchange) => readonly Fault[];
  /** Whether the document shows events of this type. */
  readonly hasEvent: (eventType: string) => boolean;
  readonly findEventFaults: (event: { readonly event_type: string }) => readonly Fault[];
  /** By schema, the fields of what these operations take and answer, and of what events carry; sorted by name. */
  readonly fieldsOf: (operations: readonly string[]) => ReadonlyMap<string, readonly string[]>;
  /** The query parameters of those of these operations that have any; sorted by name. */
  readonly queryParametersOf: (operations: readonly string[]) => ReadonlyMap<string, readonly string[]>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content; readonly required?: boolean };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface OpenApi {
  /** By event type, or by the beginning of event types and `*`. */
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const methods = ['get', 'post', 'patch', 'put', 'delete'];

/** Paths of the specification that the public service spells otherwise (docs/service.md, rows 1, 2 and 31a). */
const otherPaths: Readonly<Record<string, string>> = {
  '/orders': '/v3/orders',
  '/v2/user/': '/v2/user',
  '/v3/order/create': '/v3/order',
};

/** Statuses that the document never lists although the service answers with them (docs/service.md, row 24). */
const unlisted = [400, 401, 403, 404, 409, 413];
/** Error bodies are JSON (specification, Errors); `detail` is said of 422 only. */
const refusal: Schema = { type: 'object', additionalProperties: true };

function findDocument(): string | null {
  if (process.env.SERVICE_OPENAPI) return process.env.SERVICE_OPENAPI;
  let folder = import.meta.dirname;
  while (folder !== dirname(folder)) {
    const path = join(folder, 'shared', 'data', 'service-openapi.json');
    if (existsSync(path)) return path;
    folder = dirname(folder);
  }
  return null;
}

function fits(template: string, path: string): boolean {
  const [wanted, given] = [template.split('/'), path.split('/')];
  return (
    wanted.length === given.length && wanted.every((part, n) => part.startsWith('{') || part === given[n])
  );
}

/** A text of a query or form in every way that it may be meant. */
function meaningsOf(texts: readonly unknown[]): readonly unknown[] {
  const read = (text: unknown) => [text, Number(text), text === 'true' || (text === 'false' ? false : text)];
  return [...texts.slice(0, 1).flatMap(read), ...[0, 1, 2].map((n) => texts.map((text) => read(text)[n]))];
}

function findTextFaults(schema: Schema, texts: readonly unknown[], place: { at: string; resolve: Resolve }) {
  const outcomes = meaningsOf(texts).map((meaning) => findFaults(schema, meaning, place));
  return outcomes.find((faults) => faults.length === 0) ?? outcomes[0] ?? [];
}

function findFormFaults(schema: Schema, form: FormData, place: { at: string; resolve: Resolve }) {
  const named = typeof schema.$ref === 'string' ? place.resolve(schema.$ref) : schema;
  const properties = named.properties as Readonly<Record<string, Schema>>;
  const entries = [...new Set(form.keys())].map((key) => {
    const texts = form.getAll(key).map((value) => (typeof value === 'string' ? value : value.name));
    const fit = meaningsOf(texts).find(
      (meaning) => findFaults(properties[key] ?? {}, meaning, place).length === 0,
    );
    return [key, fit ?? texts[0]] as const;
  });
  return findFaults(schema, Object.fromEntries(entries), place);
}

function findBodyFaults(
  { requestBody }: Operation,
  { sent }: Exchange,
  place: { at: string; resolve: Resolve },
) {
  if (sent === null) {
    return requestBody?.required === true ? [{ at: place.at, rule: 'required', found: 'no body' }] : [];
  }
  const type = sent instanceof FormData ? 'multipart/form-data' : 'application/json';
  const schema = requestBody?.content[type]?.schema;
  if (!schema) return [{ at: place.at, rule: 'undeclared', found: type }];
  return sent instanceof FormData ? findFormFaults(schema, sent, place) : findFaults(schema, sent, place);
}

/** What is sent in one place, by name, against what the document declares there. */
function findParameterFaults(
  parameters: readonly Parameter[],
  sent: ReadonlyMap<string, readonly string[]>,
  place: { at: string; resolve: Resolve },
): readonly Fault[] {
  const declared = new Map(parameters.map((parameter) => [parameter.name.toLowerCase(), parameter]));
  return [
    ...parameters
      .filter(({ name, required }) => required === true && !sent.has(name.toLowerCase()))
      .map(({ name }) => ({ at: `${place.at}/${name}`, rule: 'required', found: 'nothing' })),
    ...[...sent].flatMap(([name, texts]) => {
      const at = `${place.at}/${name}`;
      const parameter = declared.get(name.toLowerCase());
      if (!parameter) return [{ at, rule: 'undeclared', found: texts.join() }];
      return findTextFaults(parameter.schema, texts, { ...place, at });
    }),
  ];
}

function pathParts(template: string, path: string): ReadonlyMap<string, readonly string[]> {
  const given = path.split('/');
  return new Map(
    template.split('/').flatMap((part, n) => {
      return part.startsWith('{') ? [[part.slice(1, -1), [decodeURIComponent(given[n] ?? '')]]] : [];
    }),
  );
}

/** The service's own headers; those of HTTP itself are nobody's contract here. */
function ownHeaders(headers: Headers): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...headers].filter(([name]) => name.startsWith('x-')).map(([name, value]) => [name, [value]]),
  );
}

/** The key of a request, which the document declares apart from the operations. */
function keyOf(path: string): Parameter {
  const name = path.startsWith('/v1/org/') ? 'x-management-key' : 'x-service-api-key';
  return { name, in: 'header', required: true, schema: { type: 'string' } };
}

/** Every named schema that a part of the document leads to. */
function findNamedSchemas(
  part: unknown,
  resolve: Resolve,
  found = new Map<string, Schema>(),
): ReadonlyMap<string, Schema> {
  if (typeof part !== 'object' || part === null) return found;
  for (const [key, value] of Object.entries(part)) {
    if (key === 'example' || key === 'examples') continue;
    if (key !== '$ref' || typeof value !== 'string') {
      findNamedSchemas(value, resolve, found);
      continue;
    }
    const name = value.split('/').at(-1) ?? '';
    if (found.has(name)) continue;
    found.set(name, resolve(value));
    findNamedSchemas(resolve(value), resolve, found);
  }
  return found;
}

class OpenApiDocument implements ServiceDocument {
  readonly operations: readonly string[];
  readonly #operations: ReadonlyMap<string, { readonly path: string; readonly operation: Operation }>;
  /** Fewest named parts first, so that a fixed part wins over a named one. */
  readonly #templates: readonly string[];
  readonly #webhooks: OpenApi['webhooks'];
  readonly #schemas: OpenApi['components']['schemas'];
  readonly #resolve: Resolve = (reference) => this.#schemas[reference.split('/').at(-1) ?? ''] ?? {};

  constructor({ paths, components, webhooks }: OpenApi) {
    this.#schemas = components.schemas;
    this.#webhooks = webhooks;
    this.#operations = readOperations(paths);
    this.operations = [...this.#operations.keys()];
    this.#templates = this.operations.toSorted((a, b) => a.split('{').length - b.split('{').length);
  }

  operationOf({ method, path }: Pick<Exchange, 'method' | 'path'>): string | undefined {
    return this.#templates.find((template) => fits(template, `${method} ${spelled(path)}`));
  }

  #require(asked: Exchange) {
    const name = this.operationOf(asked) ?? '';
    const found = this.#operations.get(name);
    if (!found) throw new Error(`The document has no operation ${asked.method} ${asked.path}.`);
    return { name, ...found };
  }

  #webhookOf(eventType: string) {
    return Object.entries(this.#webhooks).find(([name]) =>
      name.endsWith('*') ? eventType.startsWith(name.slice(0, -1)) : eventType === name,
    );
  }

  hasEvent(eventType: string): boolean {
    return this.#webhookOf(eventType) !== undefined;
  }

  findEventFaults(event: { readonly event_type: string }): readonly Fault[] {
    const [name, webhook] = this.#webhookOf(event.event_type) ?? [];
    const schema = webhook?.post.requestBody?.content['application/json']?.schema ?? {};
    return findFaults(schema, event, { at: name ?? event.event_type, resolve: this.#resolve });
  }

  fieldsOf(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
    const used = names.flatMap((name) => this.#operations.get(name)?.operation ?? []);
    const answers = used.flatMap(({ responses }) =>
      Object.entries(responses).flatMap(([status, answer]) => (status.startsWith('2') ? [answer] : [])),
    );
    const events = Object.values(this.#webhooks).map(({ post }) => post);
    const bodies = [...used, ...events].map(({ requestBody }) => requestBody);
    return new Map(
      [...findNamedSchemas([...answers, ...bodies], this.#resolve)]
        .map(([name, { properties }]) => [name, Object.keys(properties ?? {}).toSorted()] as const)
        .filter(([, fields]) => fields.length > 0),
    );
  }

  queryParametersOf(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
    return new Map(
      names.flatMap((name) => {
        const declared = this.#operations.get(name)?.operation.parameters ?? [];
        const inQuery = declared.flatMap((each) => (each.in === 'query' ? [each.name] : []));
        return inQuery.length > 0 ? [[name, inQuery.toSorted()] as const] : [];
      }),
    );
  }

  findRequestFaults(asked: Exchange): readonly Fault[] {
    const { name, path, operation } = this.#require(asked);
    const of = (place: string) =>
      [...(operation.parameters ?? []), keyOf(asked.path)].filter((each) => each.in === place);
    const query = new Map([...asked.query.keys()].map((key) => [key, asked.query.getAll(key)]));
    const at = (place: string) => ({ at: `${name} ${place}`, resolve: this.#resolve });
    return [
      ...findParameterFaults(of('path'), pathParts(path, spelled(asked.path)), at('path')),
      ...findParameterFaults(of('query'), query, at('query')),
      ...findParameterFaults(of('header'), ownHeaders(asked.headers), at('header')),
      ...findBodyFaults(operation, asked, at('body')),
    ];
  }

  findResponseFaults(answered: Exchange): readonly Fault[] {
    const { name, operation } = this.#require(answered);
    const { status, contentType, received } = answered;
    const place = { at: `${name} ${status}`, resolve: this.#resolve };
    const declared = operation.responses[String(status)];
    if (!declared && unlisted.includes(status)) return findFaults(refusal, received, place);
    if (declared && !declared.content && received === '') return [];
    const content = declared?.content?.[contentType];
    if (!content) return [{ at: place.at, rule: 'undeclared', found: contentType }];
    return findFaults(content.schema ?? {}, received, place);
  }
}

function readOperations(paths: OpenApi['paths']) {
  return new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      methods.flatMap((method) => {
        const operation = item[method];
        return operation ? [[`${method.toUpperCase()} ${path}` as string, { path, operation }] as const] : [];
      }),
    ),
  );
}

function spelled(path: string): string {
  return otherPaths[path] ?? path;
}

/** Null where the document is not there; it is not part of the project. @throws when it is not JSON. */
export function openServiceDocument(): ServiceDocument | null {
  const path = findDocument();
  return path === null ? null : new OpenApiDocument(JSON.parse(readFileSync(path, 'utf8')));
}
