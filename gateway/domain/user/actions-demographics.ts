import type { GraphContext } from '../../graph/context.ts';
import {
  type FeatureNotEnabled,
  type InputIssue,
  type InputRejected,
  inputRejected,
  type NotFound,
  notFound,
  toRefusal,
  userNeeded,
} from '../../graph/user-error.ts';
import { findDemographicsIssues } from './actions-demographics-rules.ts';
import { type Demographics, type NewDemographics, updateDemographics } from './rest-demographics.ts';

export interface DemographicsUpdated {
  readonly kind: 'DemographicsUpdated';
  readonly userId: string;
  readonly demographics: Demographics;
}

/**
 * Sets the whole demographics record of a user; what is left out is gone afterwards, so repeating a call
 * whose answer was lost does no harm.
 * @param userId null where a server of the team names none
 * @param more what the reading of the input has found wrong already
 * @throws GatewayError FORBIDDEN without the scope write:profile, UPSTREAM_*
 */
export async function requestDemographics(
  context: GraphContext,
  {
    userId,
    person,
    more,
  }: {
    readonly userId: string | null;
    readonly person: NewDemographics;
    readonly more: readonly InputIssue[];
  },
): Promise<DemographicsUpdated | InputRejected | NotFound | FeatureNotEnabled> {
  const { service } = context;
  service.rights.require('write:profile');
  if (userId === null) return userNeeded();
  const issues = [...findDemographicsIssues(person), ...more];
  if (issues.length > 0) return inputRejected(issues);
  try {
    const demographics = await updateDemographics(service, userId, person);
    context.loaders.clear();
    return demographics === null ? notFound('user') : { kind: 'DemographicsUpdated', userId, demographics };
  } catch (error) {
    return toRefusal(error);
  }
}
