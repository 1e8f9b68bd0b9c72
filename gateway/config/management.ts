import { readApiKeys } from './auth.ts';
import type { Reading } from './reading.ts';

/** The management interface: a base address and a key for it. */
export interface ManagementService {
  readonly url: string;
  readonly key: string;
}

/** The settings of the management graph. */
export interface ManagementConfig {
  /** Null = the embedded sandbox's own. */
  readonly service: ManagementService | null;
  readonly keyHeader: string;
  /** The organization of operations that name none. */
  readonly orgId: string | null;
  /** Keys of callers, in the forms of GATEWAY_API_KEYS. */
  readonly apiKeys: readonly string[];
}

/** Null = there is no management graph. */
export function readManagement(reading: Reading): ManagementConfig | null {
  const url = reading.address('SERVICE_MANAGEMENT_URL');
  const key = reading.secret('SERVICE_MANAGEMENT_KEY');
  reading.refuseUnsendable('SERVICE_MANAGEMENT_KEY', key ?? '');
  const keyHeader = reading.headerName('SERVICE_MANAGEMENT_KEY_HEADER', 'x-management-key');
  const orgId = reading.uuid('SERVICE_ORG_ID');
  const apiKeys = readApiKeys(reading, 'MANAGEMENT_API_KEYS');
  const service = url === null || key === null ? null : { url, key };
  if (service === null && (url !== null || key !== null)) {
    reading.fault('SERVICE_MANAGEMENT_URL and SERVICE_MANAGEMENT_KEY need each other.');
    return null;
  }
  if (service !== null && apiKeys.length === 0) {
    reading.fault('MANAGEMENT_API_KEYS is missing: nobody could use SERVICE_MANAGEMENT_URL.');
    return null;
  }
  const isEmbedded = ['SERVICE_URL', 'SERVICE_DEPLOYMENT'].every((name) => reading.text(name) === null);
  if (service === null && !isEmbedded) {
    if (apiKeys.length > 0) reading.fault('MANAGEMENT_API_KEYS is of no use without SERVICE_MANAGEMENT_URL.');
    return null;
  }
  return apiKeys.length === 0 ? null : { service, keyHeader, orgId, apiKeys };
}
