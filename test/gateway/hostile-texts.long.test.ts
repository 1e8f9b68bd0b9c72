import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTextGateway, type TextGateway, walk, ways } from './texts/walk.ts';

let world: TextGateway;

beforeAll(async () => {
  world = await startTextGateway();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** 4,000 requests one after the other, on a machine that may be busy. */
test.each(ways)(
  '$title, each of twenty texts at each place',
  async (way) => {
    expect(await walk(world.gateway, way, () => true)).toEqual([]);
  },
  600_000,
);
