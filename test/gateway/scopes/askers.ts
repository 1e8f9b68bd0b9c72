import { scopes } from '../../../gateway/auth/rights.ts';
import type { Asker } from './walk.ts';

const sets = [
  { title: 'no scope', scopes: [] },
  ...scopes.map((scope) => ({ title: `${scope} alone`, scopes: [scope] })),
  ...scopes.map((missing) => ({
    title: `all scopes but ${missing}`,
    scopes: scopes.filter((scope) => scope !== missing),
  })),
  { title: 'all scopes', scopes },
];

/** A server of the team. */
export const team: Asker = { title: 'a gateway key', scopes: null, isLimited: false };

/** Viewer tokens of a user and for some orders of theirs, with no scope, each alone, each missing, and all. */
export const viewers: readonly Asker[] = sets.flatMap((set) => [
  { ...set, title: `a token of a user with ${set.title}`, isLimited: false },
  { ...set, title: `a token for some orders with ${set.title}`, isLimited: true },
]);
