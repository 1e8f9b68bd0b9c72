import type { Service } from '../../service/service.ts';
import {
  entries,
  flag,
  id,
  integer,
  pageReader,
  record,
  required,
  text,
  texts,
  timestamp,
} from '../parse.ts';
import { toRequestBody } from '../request-body.ts';
import { change, type PageStart, type Place, readNothing, readRows, readThing, teamPath } from './rest.ts';

/** A webhook, with the place that it was read from. */
export type Webhook = ReturnType<typeof readWebhook> & { readonly at: Place };

const readWebhook = record((raw) => ({
  id: required(raw, 'id', id),
  description: text(raw.description),
  rateLimit: integer(raw.rate_limit),
  url: text(raw.url),
  isDisabled: flag(raw.disabled) ?? false,
  eventTypes: raw.filter_types === null || raw.filter_types === undefined ? null : texts(raw.filter_types),
  createdAt: timestamp(raw.created_at),
  updatedAt: timestamp(raw.updated_at),
}));
const readWebhooks = pageReader('data', readWebhook);

function pathOf(at: Place, webhookId?: string): string {
  const path = `${teamPath(at)}/${at.environment}/webhook`;
  return webhookId === undefined ? path : `${path}/${webhookId}`;
}

function placed(webhook: ReturnType<typeof readWebhook> | null, at: Place): Webhook | null {
  return webhook === null ? null : { ...webhook, at };
}

export async function listWebhooks(service: Service, at: Place, { cursor, limit }: PageStart) {
  const query = { next_cursor: cursor, limit };
  const page = await readRows(service, { operation: 'webhook.list', path: pathOf(at), query }, readWebhooks);
  return { ...page, rows: page.rows.map((row) => placed(row, at)) };
}

export async function getWebhook(service: Service, at: Place, webhookId: string) {
  const call = { operation: 'webhook.get', path: pathOf(at, webhookId) };
  return placed(await readThing(service, call, readWebhook), at);
}

/** The parts of a webhook that can be set, in the names of the graph; what is undefined stays as it is. */
export interface WebhookSettings {
  readonly url?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly rateLimit?: number | null | undefined;
  readonly isDisabled?: boolean | null | undefined;
  readonly eventTypes?: readonly string[] | null | undefined;
}

/** The settings with the service's names, still in camel case. */
function nameFields<Settings extends WebhookSettings>({ isDisabled, eventTypes, ...rest }: Settings) {
  return { ...rest, disabled: isDisabled, filterTypes: eventTypes };
}

export async function createWebhook(
  service: Service,
  at: Place,
  settings: WebhookSettings & { readonly secret?: string | null | undefined },
) {
  const made = await change(service, {
    operation: 'webhook.create',
    method: 'POST',
    path: pathOf(at),
    // The service refuses some nulls, so a null is left out, which means the same.
    body: toRequestBody(nameFields(settings)),
    reader: readWebhook,
  });
  return placed(made, at);
}

/** A webhook of a team's environment. */
export interface NamedWebhook {
  readonly at: Place;
  readonly webhookId: string;
}

export async function updateWebhook(
  service: Service,
  { at, webhookId }: NamedWebhook,
  settings: WebhookSettings,
) {
  const updated = await change(service, {
    operation: 'webhook.update',
    method: 'PATCH',
    path: pathOf(at, webhookId),
    body: toRequestBody(nameFields(settings), { sendsNull: true }),
    reader: readWebhook,
  });
  return placed(updated, at);
}

export function deleteWebhook(service: Service, { at, webhookId }: NamedWebhook) {
  return change(service, {
    operation: 'webhook.delete',
    method: 'DELETE',
    path: pathOf(at, webhookId),
    reader: readNothing,
  });
}

/** A header that the service sends with each webhook; null for a value that is a secret. */
export interface WebhookHeader {
  readonly name: string;
  readonly value: string | null;
}

const readHeaders = record((raw): readonly WebhookHeader[] => {
  const sensitive = new Set(texts(raw.sensitive).map((name) => name.toLowerCase()));
  const plain = entries(text)(raw.headers).filter(([name]) => !sensitive.has(name.toLowerCase()));
  return [
    ...plain.map(([name, value]) => ({ name, value })),
    ...texts(raw.sensitive).map((name) => ({ name, value: null })),
  ];
});

export async function listWebhookHeaders(service: Service, { at, webhookId }: NamedWebhook) {
  const call = { operation: 'webhook.headers', path: `${pathOf(at, webhookId)}/headers` };
  return (await readThing(service, call, readHeaders)) ?? [];
}

/** Replaces all headers. */
export function setWebhookHeaders(
  service: Service,
  { at, webhookId }: NamedWebhook,
  headers: readonly { readonly name: string; readonly value: string }[],
) {
  return change(service, {
    operation: 'webhook.set-headers',
    method: 'PUT',
    path: `${pathOf(at, webhookId)}/headers`,
    body: { headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) },
    reader: readNothing,
  });
}

const readSecret = record((raw) => required(raw, 'key', text));

export function getWebhookSecret(service: Service, { at, webhookId }: NamedWebhook) {
  const call = { operation: 'webhook.secret', path: `${pathOf(at, webhookId)}/secret` };
  return readThing(service, call, readSecret);
}

/** @param secret the new one; the service makes one where it is null */
export function rotateWebhookSecret(
  service: Service,
  { at, webhookId }: NamedWebhook,
  secret: string | null,
) {
  return change(service, {
    operation: 'webhook.rotate-secret',
    method: 'POST',
    path: `${pathOf(at, webhookId)}/secret/rotate`,
    body: { key: secret },
    reader: readNothing,
  });
}
