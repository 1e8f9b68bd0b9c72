import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostileTexts } from './texts/hostile-texts.ts';
import { coordinates, places } from './texts/places.ts';
import { sendOverHttp } from './texts/transports.ts';
import { maxMs, measure, startTextGateway, type TextGateway, walk, ways } from './texts/walk.ts';

let world: TextGateway;

beforeAll(async () => {
  world = await startTextGateway();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

test('the walk goes over every text argument and input field of schema.graphql', () => {
  const walked = new Set(places.map(({ coordinate }) => coordinate));
  expect([...walked].toSorted()).toEqual(coordinates.toSorted());
  expect(walked.size).toBeGreaterThan(150);
  expect(hostileTexts(24_000).map(([, text]) => text.length)).toEqual(Array(20).fill(24_000));
});

/** 250 requests one after the other, on a machine that may be busy. */
const timeoutMs = 300_000;

// Each place meets five of the texts, each in one of the ways; hostile-texts.long.test.ts sends each in every way.
test.each(ways.map((way, index) => ({ ...way, index })))(
  '$title',
  async (way) => {
    const isChosen = (place: number, text: number) => (place + text) % (4 * ways.length) === way.index;
    expect(await walk(world.gateway, way, isChosen)).toEqual([]);
  },
  timeoutMs,
);

test.each(['createOrder', 'importOrder', 'registerTestkit'])(
  'an e-mail address of 80,001 characters in %s takes no longer than any other',
  async (mutation) => {
    const place = places.find(({ name }) => name === `Mutation.${mutation}(input).patientDetails.email`);
    if (place === undefined) throw new Error('The schema has no such place.');
    const variables = place.variablesWith(`${'@.'.repeat(40_000)} `);
    const { answer, ms } = await measure(world.gateway, sendOverHttp(world.gateway.url), {
      query: place.query,
      variables,
    });
    expect(answer).toContain(
      'The variable \\"$input.patientDetails.email\\" is longer than 16000 characters.',
    );
    expect(ms).toBeLessThan(maxMs);
  },
);

test('a document of 45,000 lines whose fields fail takes no longer than any other', async () => {
  const fields = Array.from({ length: 20 }, (_, index) => `a${index}: labReport(id: "none") { id }`);
  const query = `{${'\n'.repeat(45_000)}${fields.join('\n')} }`;
  const { answer, ms } = await measure(world.gateway, sendOverHttp(world.gateway.url), {
    query,
    variables: {},
  });
  expect(answer).toContain('The document has more than 2000 lines.');
  expect(ms).toBeLessThan(maxMs);
});

test('errors in the last of 2,000 lines cost little more than in the first', async () => {
  const fields = Array.from({ length: 20 }, (_, index) => `a${index}: labReport(id: "none") { id }`).join(
    ' ',
  );
  const send = sendOverHttp(world.gateway.url);
  const { answer, ms } = await measure(world.gateway, send, {
    query: `{${'\n'.repeat(1900)}${fields} }`,
    variables: {},
  });
  expect(answer.match(/"line":1901/g)).toHaveLength(20);
  expect(ms).toBeLessThan(maxMs);
});
