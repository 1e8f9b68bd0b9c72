import { malformedBodies } from '../../siege/malformed-bodies.ts';
import { hostileQueries } from '../../support/hostile-queries.ts';
import { body, readableBodies, usualBodies } from '../direct-path/corpus.ts';

/** Longer ones are asked by direct-path-parity.test.ts, each once. */
const maxBytes = 2000;

/** Bodies of requests: right, wrong, unusual and malformed. The right ones are listed several times. */
export function bodies({ orderId }: { readonly orderId: string }): readonly Buffer[] {
  const right = [
    body('{ __typename }'),
    body('{ viewer { kind userId scopes } }'),
    body(`query ($id: ID!) { order(id: $id) { id status { label } } }`, { variables: { id: orderId } }),
    body('query A { a: __typename } query B { b: __typename }', { operationName: 'B' }),
    // No cursors: each gateway over a log in memory signs them with a key of its own.
    body('{ users(first: 2) { nodes { id } pageInfo { hasNextPage } } }'),
  ];
  const odd = [
    '',
    ' ',
    '\uFEFF{"query":"{ __typename }"}',
    `${body('{ __typename }')}\n`,
    body('{ viewer { kind @aa @aa @aa @aa @aa @aa @aa @aa @aa @aa } }'),
    body('{ users(first: 1, after: "eA==") { nodes { id } } }'),
    body('{ order(id: "x") { id', {}),
    body('subscription { orderUpdates(orderId: "x") { kind } }'),
    body('subscription ($id: ID!) { orderUpdates(orderId: $id, after: "x") { kind } }', {
      variables: { id: 'x' },
    }),
    body('{ __typename }', { variables: [] }),
    body('{ __typename }', { variables: 'x' }),
    body('{ __typename }', { operationName: 1 }),
    body('{ __typename }', { extensions: [] }),
    body('{ __typename }', { __proto__: null, constructor: null }),
    '{"query":"{ __typename }","__proto__":{"query":"{ unknown }"}}',
    '{"query":"{ __typename }","query":"{ unknown }"}',
    '{"query":"{ __typename }","QUERY":null}',
    '{"query":{"a":1}}',
    'query=%7B__typename%7D',
    '{ __typename }',
    '[]',
    `[${body('{ __typename }')},${body('{ __typename }')}]`,
    '--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{"query":"{ __typename }"}\r\n--x--\r\n',
  ];
  const hostile = hostileQueries.map(({ query, variables = {} }) => body(query, { variables }));
  const malformed = malformedBodies.map(({ bytes }) => bytes);
  const invalid = Buffer.concat([Buffer.from('{"query":"{ __typename }","a\xff":1}', 'latin1')]);
  const others = [...usualBodies, ...Object.values(readableBodies), ...odd, ...hostile].map((text) =>
    Buffer.from(text),
  );
  const all = [...others, ...malformed, invalid].filter(
    // A stream of events has no end to compare.
    (bytes) => bytes.length <= maxBytes && !bytes.includes('{ events {'),
  );
  return [
    ...Array.from({ length: 100 }, () => right)
      .flat()
      .map((text) => Buffer.from(text)),
    ...all,
  ];
}
