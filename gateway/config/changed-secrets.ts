import { splitKeyEntry } from './auth.ts';
import type { Config } from './config.ts';

/** A secret setting with another value than before. It names keys by their labels and says no value. */
export interface ChangedSecret {
  readonly setting: string;
  /** Labels of new and of missing entries; an entry without a label is a `key` or a `secret`. */
  readonly added: string;
  readonly removed: string;
  /** Whether a running gateway can take the new value; otherwise it takes a restart. */
  readonly isLive: boolean;
}

type Read = (config: Config) => readonly string[];

const toHex = (keys: readonly Buffer[] = []) => keys.map((key) => key.toString('hex'));

/** What `Gateway.useSecrets` passes to the parts that use it. */
const live: Readonly<Record<string, Read>> = {
  SERVICE_API_KEY: ({ service }) => [service.apiKey],
  WEBHOOK_SECRETS: ({ webhookSecrets }) => webhookSecrets,
  GATEWAY_API_KEYS: ({ gatewayApiKeys }) => gatewayApiKeys,
  VIEWER_TOKEN_SECRET: ({ viewerTokenSecrets }) => viewerTokenSecrets,
};

const fixed: Readonly<Record<string, Read>> = {
  SERVICE_MANAGEMENT_KEY: ({ management }) => [management?.service?.key ?? ''],
  MANAGEMENT_API_KEYS: ({ management }) => management?.apiKeys ?? [],
  EVENT_LOG: ({ eventLog }) => [JSON.stringify(eventLog)],
  EVENT_LOG_KEY: ({ eventLogKeys }) => toHex(eventLogKeys),
  AUDIT_TRAIL_KEY: ({ auditTrail }) => toHex(auditTrail?.keys),
  INTAKE_RABBITMQ_URL: ({ intake }) => [intake?.rabbitmq?.url ?? ''],
  INTAKE_EVENTHUBS_CONNECTION_STRING: ({ intake }) => [intake?.eventHubs?.connectionString ?? ''],
};

/** Compares the secrets of two readings of the configuration. The order counts: often the first of a list is special. */
export function compareSecrets(before: Config, after: Config): readonly ChangedSecret[] {
  return Object.entries({ ...live, ...fixed })
    .map(([setting, read]) => ({ setting, from: read(before), to: read(after) }))
    .filter(({ from, to }) => from.join() !== to.join())
    .map(({ setting, from, to }) => ({
      setting,
      added: listLabels(setting, to, from),
      removed: listLabels(setting, from, to),
      isLive: setting in live,
    }));
}

function listLabels(setting: string, entries: readonly string[], others: readonly string[]): string {
  const isKey = setting.endsWith('_API_KEYS');
  return entries
    .filter((entry) => entry !== '' && !others.includes(entry))
    .map((entry) => (isKey ? (splitKeyEntry(entry).label ?? 'key') : 'secret'))
    .join(', ');
}
