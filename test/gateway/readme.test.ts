import { globSync, readFileSync } from 'node:fs';
import { buildSchema, NoDeprecatedCustomRule, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import * as widgetOperations from '../../widget/src/gateway/operations.ts';
import * as resultsOperations from '../../widget/src/results/operations.ts';
import { gatewayKey, startLab } from '../support/lab.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const examplesOf = (page: string) =>
  [...page.matchAll(/^```graphql\n(.*?)^```/gms)].map(([, text = '']) => text);
const examples = ['README.md', 'docs/queries.md'].flatMap((page) => examplesOf(read(page)));
const queries = examples.filter((example) => !example.startsWith('subscription'));
const subscriptions = examples.filter((example) => example.startsWith('subscription'));

test('README and docs/queries.md have examples to run', () => {
  expect([queries.length, subscriptions.length]).toEqual([3, 1]);
});

test.each(queries)(
  'the example %# of the documents runs unchanged against the sandbox, for every order',
  async (query) => {
    await using lab = await startLab();
    for (const { orderId } of lab.sandbox.orders().slice(0, 12)) {
      const answer = await lab.query(query, { variables: { orderId } });
      expect(answer.errors).toBeUndefined();
      expect(Object.values(answer.data)).not.toContain(null);
    }
  },
);

test.each(subscriptions)(
  'the live example of the README runs unchanged against the sandbox',
  async (query) => {
    await using lab = await startLab();
    const [order] = lab.sandbox.orders();
    const updates = await subscribeOverSse({
      url: lab.url,
      token: gatewayKey,
      query,
      variables: { orderId: order?.orderId },
    });
    expect((await updates.next())?.data.orderUpdates.kind).toBe('SNAPSHOT');
    await updates.close();
  },
);

test.each(
  globSync('{README.md,docs/*.md}').flatMap((page) =>
    examplesOf(read(page)).map((example) => [page, example] as const),
  ),
)('an example of %s is valid in the graph of that page', (page, example) => {
  const graph = page === 'docs/management.md' ? 'management.graphql' : 'schema.graphql';
  expect(validate(buildSchema(read(graph)), parse(example)).map(({ message }) => message)).toEqual([]);
});

test('the widget, the demo, the examples and the documents ask nothing that is deprecated', () => {
  const schema = buildSchema(read('schema.graphql'));
  const demo = read('gateway/http/pages/demo/demo.js');
  const [, parts = ''] = /const ORDER = '(.*)';/.exec(demo) ?? [];
  const programs = globSync('examples/*/{*,src/*}.{ts,tsx}').map(read);
  const texts = [
    ...[demo.replaceAll(/\$\{ORDER\}/g, parts), ...programs]
      .flatMap((program) => [
        ...program.matchAll(/`(\s*(?:query|mutation|subscription|fragment|\{)\s[^`]*)`/g),
      ])
      .map(([, text = '']) => text),
    ...globSync('{README.md,docs/*.md}').flatMap((page) => examplesOf(read(page))),
    ...Object.values({ ...widgetOperations, ...resultsOperations }),
  ];
  const faults = texts.flatMap((text) => validate(schema, parse(text), [NoDeprecatedCustomRule]));

  expect(texts.length).toBeGreaterThan(20);
  expect(faults.map(({ message }) => message)).toEqual([]);
});
