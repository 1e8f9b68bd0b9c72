import type { Service } from '../../service/service.ts';
import {
  id,
  list,
  optional,
  pageReader,
  type Raw,
  record,
  required,
  text,
  texts,
  timestamp,
} from '../parse.ts';
import { change, orgPath, type PageStart, type Place, readRows, regionalPath } from './rest.ts';

export type ManagementKey = ReturnType<typeof readKey>;

const readBinding = record((raw) => required(raw, 'team_id', id));
const readCreator = optional(record((raw) => ({ type: text(raw.type), name: text(raw.name) })));

const readKey = record((raw) => ({
  id: required(raw, 'id', id),
  label: text(raw.label),
  createdAt: timestamp(raw.created_at),
  role: text(raw.role),
  creator: readCreator(raw.creator),
  teamIds: list(readBinding)(raw.team_role_bindings),
}));
const readKeys = pageReader('data', readKey);
const readNewKey = record((raw) => ({ managementKey: readKey(raw), key: required(raw, 'key', text) }));

const keysPath = (orgId: string) => `${orgPath(orgId)}/management_key`;

export interface KeyFilter {
  readonly teamId: string | null;
  readonly role: string | null;
}

export function listManagementKeys(
  service: Service,
  { orgId, teamId, role }: KeyFilter & { readonly orgId: string },
  { cursor }: PageStart,
) {
  const query = { team_id: teamId, role, next_cursor: cursor };
  return readRows(service, { operation: 'management-key.list', path: keysPath(orgId), query }, readKeys);
}

function toBindings(teamIds: readonly string[] | null): object | null {
  return teamIds?.map((team_id) => ({ team_id })) ?? null;
}

/** The answer has the key itself, which the service never shows again. */
export function createManagementKey(
  service: Service,
  orgId: string,
  {
    label,
    role,
    teamIds,
  }: { readonly label: string; readonly role: string; readonly teamIds: readonly string[] | null },
) {
  return change(service, {
    operation: 'management-key.create',
    method: 'POST',
    path: keysPath(orgId),
    body: { label, role, team_role_bindings: toBindings(teamIds) },
    reader: readNewKey,
  });
}

interface NamedKey {
  readonly orgId: string;
  readonly id: string;
}

export function updateManagementKey(
  service: Service,
  key: NamedKey,
  { label, teamIds }: { readonly label: string | null; readonly teamIds: readonly string[] | null },
) {
  return change(service, {
    operation: 'management-key.update',
    method: 'PATCH',
    path: `${keysPath(key.orgId)}/${key.id}`,
    body: {
      ...(label === null ? {} : { label }),
      ...(teamIds === null ? {} : { team_role_bindings: toBindings(teamIds) }),
    },
    reader: readKey,
  });
}

/** A key that is not there is answered with null and not with 404 (public service). */
function readDeletedKey(json: unknown): true | null {
  return json === null ? null : true;
}

export function deleteManagementKey(service: Service, key: NamedKey) {
  return change(service, {
    operation: 'management-key.delete',
    method: 'DELETE',
    path: `${keysPath(key.orgId)}/${key.id}`,
    reader: readDeletedKey,
  });
}

export type TeamApiKey = ReturnType<typeof readApiKey>;

/** Without the value: the list of the service contains it. */
function readApiKeyOf(raw: Raw) {
  return {
    id: required(raw, 'id', id),
    label: text(raw.label),
    teamId: id(raw.team_id),
    createdAt: timestamp(raw.created_at),
  };
}
const readApiKey = record(readApiKeyOf);
const readApiKeys = pageReader('api_keys', readApiKey);
const readNewApiKey = record((raw) => ({ apiKey: readApiKeyOf(raw), value: required(raw, 'value', text) }));

export function listTeamApiKeys(service: Service, at: Place, { cursor }: PageStart) {
  const query = { team_id: at.teamId, next_cursor: cursor };
  const path = regionalPath(at, 'team_api_keys');
  return readRows(service, { operation: 'team-api-key.list', path, query }, readApiKeys);
}

export function createTeamApiKey(service: Service, at: Place, label: string) {
  return change(service, {
    operation: 'team-api-key.create',
    method: 'POST',
    path: regionalPath(at, 'team_api_keys'),
    body: { label, team_id: at.teamId },
    reader: readNewApiKey,
  });
}

/** The ids of a delete of several things, by its outcome. */
export const readDeleted = record((raw) => ({
  deletedIds: texts(raw.success),
  failedIds: texts(raw.failure),
  missingIds: texts(raw.not_found),
}));

export function deleteTeamApiKeys(service: Service, at: Place, ids: readonly string[]) {
  return change(service, {
    operation: 'team-api-key.delete',
    method: 'DELETE',
    path: regionalPath(at, 'team_api_keys'),
    query: { api_key_id: ids },
    reader: readDeleted,
  });
}
