import type { Service } from '../../service/service.ts';
import { readLabAccount } from '../lab-account/rest.ts';
import { id, list, optional, pageReader, record, required, text, texts, timestamp } from '../parse.ts';
import { change, type PageStart, type Place, readRows, readThing, regionalPath } from './rest.ts';
import { readDeleted } from './rest-keys.ts';

export type CustomCredentials = ReturnType<typeof readCredentials>;

/** Without `details` and the hash of the secret: both are secrets or lead to them. */
const readCredentials = record((raw) => ({
  id: required(raw, 'id', id),
  provider: text(raw.source),
  clientId: text(raw.client_id),
  redirectUrlOverride: text(raw.redirect_url_override),
  createdAt: timestamp(raw.created_at),
  updatedAt: timestamp(raw.updated_at),
}));
const readCredentialsList = pageReader('credentials', readCredentials);

const listName = 'team_custom_credentials';

export function listCustomCredentials(
  service: Service,
  { provider, ...at }: Place & { readonly provider: string | null },
  { cursor }: PageStart,
) {
  const query = { team_id: [at.teamId], provider, next_cursor: cursor };
  const path = regionalPath(at, listName);
  return readRows(service, { operation: 'custom-credentials.list', path, query }, readCredentialsList);
}

/** The credentials of a team with a provider; `details` is in the service's own words. */
export interface NewCredentials {
  readonly provider: string;
  readonly clientId?: string | null | undefined;
  readonly clientSecret?: string | null | undefined;
  readonly redirectUrlOverride?: string | null | undefined;
  readonly details?: unknown;
}

export function setCustomCredentials(service: Service, at: Place, given: NewCredentials) {
  return change(service, {
    operation: 'custom-credentials.set',
    method: 'POST',
    path: regionalPath(at, listName),
    body: {
      team_id: at.teamId,
      provider: given.provider,
      client_id: given.clientId,
      client_secret: given.clientSecret,
      redirect_url_override: given.redirectUrlOverride,
      details: given.details,
    },
    reader: readCredentials,
  });
}

export function deleteCustomCredentials(service: Service, at: Place, ids: readonly string[]) {
  return change(service, {
    operation: 'custom-credentials.delete',
    method: 'DELETE',
    path: regionalPath(at, listName),
    query: { credential_id: ids },
    reader: readDeleted,
  });
}

export type PreparationStep = ReturnType<typeof readStep>;

const readStep = record((raw) => ({
  type: text(raw.type),
  key: text(raw.key),
  value: text(raw.value),
  description: text(raw.description),
}));
const readPreparation = record((raw) => ({
  status: text(raw.status),
  steps: list(readStep)(raw.preparation_steps),
}));

export function prepareCustomCredentials(service: Service, at: Place, provider: string) {
  return change(service, {
    operation: 'custom-credentials.prepare',
    method: 'POST',
    path: regionalPath(at, `prepare_${listName}`),
    body: { team_id: at.teamId, provider },
    reader: readPreparation,
  });
}

export type OrgLabAccount = ReturnType<typeof readOrgLabAccount>;

const readOrgLabAccount = record((raw) => ({
  account: readLabAccount(raw),
  teamIds: texts(raw.team_id_allowlist),
}));
const readOrgLabAccounts = record((raw) => list(readOrgLabAccount)(raw.data));
const readSavedLabAccount = record((raw) => optional(readOrgLabAccount)(raw.lab_account));

export interface OrgLabAccountFilter {
  readonly id: string | null;
  readonly teamId: string | null;
  readonly status: string | null;
}

/** The organization's accounts with labs; the service does not page them. */
export async function listOrgLabAccounts(
  service: Service,
  at: Omit<Place, 'teamId'>,
  { id: accountId, teamId, status }: OrgLabAccountFilter,
) {
  const query = { lab_account_id: accountId, team_id: teamId, status };
  const call = { operation: 'lab-account.list', path: regionalPath(at, 'lab_account'), query };
  return (await readThing(service, call, readOrgLabAccounts)) ?? [];
}

/** Replaces the teams that may use an account. */
export function setLabAccountTeams(
  service: Service,
  { accountId, ...at }: Omit<Place, 'teamId'> & { readonly accountId: string },
  teamIds: readonly string[],
) {
  return change(service, {
    operation: 'lab-account.set-teams',
    method: 'PATCH',
    path: `${regionalPath(at, 'lab_account')}/${accountId}`,
    body: { team_id_allowlist: teamIds },
    reader: readSavedLabAccount,
  });
}
