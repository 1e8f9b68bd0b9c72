import { readFileSync } from 'node:fs';
import { CREATE_PORTAL_URL, READ_ORDER } from '../../../widget/src/gateway/operations.ts';
import { gatewayKey } from '../../support/lab.ts';
import { pageOrigin } from '../../support/launch.ts';
import { queriesAbout } from '../canary/queries.ts';
import type { Sent } from './two-gateways.ts';

export const body = (query: string, more: object = {}) => JSON.stringify({ query, ...more });

/** Right, wrong for the schema, refused by the service's own rules, and no JSON. */
export const usualBodies = [
  body('{ viewer { kind } }'),
  body('{ unknown }'),
  body('{ order(id: "x") { id } }'),
  '{',
];

type Heads = Readonly<Record<string, NonNullable<Sent['headers']>>>;

const accepted = [
  '',
  '*/*',
  'application/json',
  'application/graphql-response+json',
  'application/*',
  'text/html',
  'text/*',
  '*/json',
  'application/graphql-response+json, application/json;q=0.9',
  'application/json;q=0.1, application/graphql-response+json',
  'text/html, application/json',
  'text/event-stream',
  'multipart/mixed',
  'text/event-stream, application/json',
  'application/json, text/event-stream',
  'application/json; charset=utf-8',
  'application/json; charset=latin1',
  'APPLICATION/JSON',
  ', application/json',
];

const contentTypes = [
  'application/json; charset=utf-8',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json; charset=utf-16',
  'application/JSON',
  'application/graphql+json',
  'application/graphql',
  'application/graphql-response+json',
  'text/plain',
  'application/json;a=b',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json, text/plain',
  '',
];

const credentials = [
  '',
  'Bearer wrong',
  'Basic x',
  `bearer ${gatewayKey}`,
  `Bearer  ${gatewayKey}`,
  'Bearer',
];

function named(name: string, values: readonly string[]): Heads {
  return Object.fromEntries(values.map((value) => [`${name}: ${value}`, { [name]: value }]));
}

/** Heads of requests, by what is special about them. */
export const heads: Heads = {
  ...named('accept', accepted),
  ...named('content-type', contentTypes),
  ...named('authorization', credentials),
  ...named('origin', [pageOrigin, 'https://evil.example', 'null', pageOrigin.toUpperCase()]),
  ...named('content-encoding', ['gzip', 'identity']),
  ...named('x-labgraph-trace', ['upstream', 'everything']),
  ...named('expect', ['100-continue']),
  ...named('last-event-id', ['x']),
  ...named('transfer-encoding', ['chunked']),
  'two accepts': { accept: ['text/html', 'application/json'] },
  'two content types': { 'content-type': ['application/json', 'text/plain'] },
  'two authorizations': { authorization: [`Bearer ${gatewayKey}`, 'Bearer wrong'] },
  'two origins': { origin: [pageOrigin, 'https://evil.example'] },
  'two cookies': { cookie: ['a=b', 'c=d'] },
  'a request id': { 'x-request-id': 'one' },
};

const apolloId = { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } };

/** Bodies that a gateway can read, by what is special about them. */
export const readableBodies: Readonly<Record<string, string>> = {
  'operations by name': body('query A { viewer { kind } } query B { a: viewer { kind } }', {
    operationName: 'B',
  }),
  'a name of none': body('query A { viewer { kind } }', { operationName: 'C' }),
  'an empty name': body('query A { viewer { kind } }', { operationName: '' }),
  'no name': body('query A { viewer { kind } } query B { viewer { kind } }'),
  'no operation': body('fragment A on Query { viewer { kind } }'),
  'no name, and wrong for the schema': body('query A { unknown } query B { unknown }'),
  'a subscription': body('subscription { events { __typename } }'),
  'a subscription that is named beside a query': body(
    'query A { viewer { kind } } subscription B { events { __typename } }',
    { operationName: 'B' },
  ),
  extensions: body('{ __typename }', { extensions: { a: 1 } }),
  'nothing as variables, name and extensions': body('{ __typename }', {
    variables: null,
    operationName: null,
    extensions: null,
  }),
  'other fields': body('{ __typename }', { id: 1 }),
  'other fields of nothing': body('{ __typename }', { id: null }),
  'an id of no operation': JSON.stringify({ documentId: `sha256:${'a'.repeat(64)}` }),
  'an id beside a document': body('{ __typename }', { documentId: 'a' }),
  'a hash of no operation': JSON.stringify(apolloId),
  'a hash beside a document': body('{ __typename }', apolloId),
  'a variable that is missing': body('query ($id: ID!) { order(id: $id) { id } }'),
  'a variable that does not fit': body('query ($first: Int!) { users(first: $first) { totalCount } }', {
    variables: { first: 'many' },
  }),
  'a variable that nothing needs': body('{ __typename }', { variables: { a: 1 } }),
  introspection: body('{ __schema { queryType { name } } }'),
  directives: body('query ($is: Boolean!) { viewer { kind @include(if: $is) scopes @skip(if: true) } }', {
    variables: { is: false },
  }),
  'words of another script': body('{ order(id: "кот 🐈") { id } }'),
  'too much': body(' '.repeat(100_001)),
  'a batch': `[${body('{ __typename }')}]`,
  'a mutation of nothing that is there': body(
    `mutation { cancelOrder(id: "${crypto.randomUUID()}") { __typename } }`,
  ),
  'a mutation that is refused': body(
    'mutation { createViewerToken(input: { userId: "x", scopes: ["fly"] }) { token } }',
  ),
  'two mutations, one after the other': body(
    'mutation { a: revokeViewerTokens(input: {}) { __typename } b: cancelOrder(id: "x") { __typename } }',
  ),
};

const pages = ['README.md', 'docs/queries.md']
  .map((page) => readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8'))
  .join('\n');

/** Reads of everything there is and both launches, about somebody and an order of theirs: of tests, documents and widget. */
export function readsAbout(about: { readonly userId: string; readonly orderId: string }): readonly string[] {
  const { orderId } = about;
  const examples = [...pages.matchAll(/^```graphql\n((?!subscription).*?)^```/gms)];
  return [
    ...queriesAbout(about).map((text) => body(text)),
    ...examples.map(([, text = '']) => body(text, { variables: { orderId } })),
    body(READ_ORDER, { variables: { orderId, full: true } }),
    body(CREATE_PORTAL_URL, { variables: { orderId: null } }),
    body(`mutation { createLaunchTicket(input: { userId: "${about.userId}" }) { __typename } }`),
  ];
}
