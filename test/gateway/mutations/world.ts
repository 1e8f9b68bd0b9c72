import { expect } from 'vitest';
import type { LabOptions } from '../../support/lab.ts';
import { type SpoiltLab, startSpoiltLab } from '../../support/spoilt-lab.ts';
import { ask, type Result } from './ask.ts';
import { canaries, type Row, type Stage } from './row.ts';

/** A lab in which the row's mutation would succeed. On leaving it, nothing of any input may have leaked. */
interface World extends Stage, AsyncDisposable {
  readonly call: (variables: Stage['variables']) => Promise<Result>;
  readonly trace: () => Promise<unknown>;
}

export async function openWorld(row: Row, options: LabOptions = {}): Promise<World> {
  const lab = await startSpoiltLab(options);
  const results: Result[] = [];
  const variables = await row.arrange(lab);
  return {
    lab,
    variables,
    call: async (given) => {
      const answer = await ask(lab, row, given);
      results.push(answer);
      return answer;
    },
    trace: async () => await row.trace(lab, variables),
    [Symbol.asyncDispose]: async () => {
      await expectNoLeak(lab, row, results);
      await lab[Symbol.asyncDispose]();
    },
  };
}

/** A success may show what was given; an error, a refusal, a log line or a metric never does. */
async function expectNoLeak(lab: SpoiltLab, row: Row, results: readonly Result[]): Promise<void> {
  const metrics = await (await lab.gateway.fetch(new Request(`${lab.url}/metrics`))).text();
  const people = lab.sandbox.users().map(({ userId }) => userId);
  const written = `${lab.logged.join('')}\n${metrics}`.toLowerCase();
  const refusals = JSON.stringify(results.filter(({ word }) => word !== row.success)).toLowerCase();
  expect([...canaries, ...people].filter((text) => written.includes(text))).toEqual([]);
  expect(canaries.filter((text) => refusals.includes(text))).toEqual([]);
}

const traces = new Map<string, Promise<unknown>>();

/** What the service has after the mutation was done once, in a world of its own. */
export function traceOfOne(row: Row): Promise<unknown> {
  const known = traces.get(row.mutation) ?? traceAnew(row);
  traces.set(row.mutation, known);
  return known;
}

async function traceAnew(row: Row): Promise<unknown> {
  await using world = await openWorld(row);
  await world.call(world.variables);
  return await world.trace();
}
