import { type GraphQLAnswer, gatewayKey } from '../../support/lab.ts';
import { casesFor } from '../../support/runs.ts';
import { type Asked, questionsOf, selectionOf } from './questions.ts';
import { type Asker, findFaults } from './walk.ts';
import type { World } from './world.ts';

export async function tokenOf({ owner, tokenFor }: World, { scopes, isLimited }: Asker): Promise<string> {
  if (scopes === null) return gatewayKey;
  return await tokenFor(owner.userId, { scopes, ...(isLimited ? { orderIds: owner.orderIds } : {}) });
}

export async function ask({ query }: World, asked: Asked, token: string): Promise<GraphQLAnswer> {
  return await query(`{ ${selectionOf(asked)} }`, { token });
}

/** What viewers are shown although the table says no, and refused although it says yes. */
export async function findAllFaults(at: World, askers: readonly Asker[]): Promise<readonly string[]> {
  const tokens = await Promise.all(askers.map(async (asker) => ({ asker, token: await tokenOf(at, asker) })));
  const found: string[] = [];
  for (const [row, asked] of questionsOf(at.owner).entries()) {
    const whole = await ask(at, asked, gatewayKey);
    for (const { asker, token } of casesFor(row, tokens, Math.ceil(tokens.length / 4))) {
      const faults = findFaults(asked, { asker, answer: await ask(at, asked, token), whole });
      found.push(...faults.map((fault) => `${fault}, to ${asker.title}`));
    }
  }
  return found;
}
