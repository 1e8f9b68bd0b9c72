import type { Config } from '../../gateway/config/config.ts';
import { isCertificateFault } from '../../gateway/errors.ts';
import { type Finding, fault, ok, warning } from './finding.ts';
import { fieldOf, readJson, request } from './request.ts';

/** Webhooks that are further off are refused. */
const maxOffsetSeconds = 300;
const notedOffsetSeconds = 30;

/** One read with the team's key: the address, the key, and the clock by the answer's date. */
export async function checkService(config: Config): Promise<readonly Finding[]> {
  const { service, apiKeyHeader, ordersPath } = config;
  if (service.kind === 'embedded') return [ok('service', 'The sandbox is embedded.')];
  const before = Date.now();
  const headers = { [apiKeyHeader]: service.apiKey, accept: 'application/json' };
  let reason: unknown = null;
  const response = await request(`${service.url}${ordersPath}?page=1&size=1`, { headers }, (fault) => {
    reason = fault;
  });
  const after = Date.now();
  // The order in the body is nobody's business here.
  await response?.body?.cancel();
  const date = Date.parse(response?.headers.get('date') ?? '');
  return [
    judgeService(response, reason),
    ...(Number.isNaN(date) ? [] : [judgeClock(date, { before, after })]),
  ];
}

function judgeService(response: Response | null, reason: unknown): Finding {
  const check = 'service';
  if (isCertificateFault(reason)) {
    const fix =
      'Renew it, or name the file of its authority in NODE_EXTRA_CA_CERTS, here and for the gateway.';
    return fault(check, 'Its certificate is not accepted.', fix);
  }
  if (response === null)
    return fault(check, 'It does not answer.', 'Check SERVICE_URL, and whether this machine reaches it.');
  const { status } = response;
  if (status === 401 || status === 403)
    return fault(check, `It refuses the key (${status}).`, 'Set SERVICE_API_KEY to a key of your team.');
  if (status === 429) return warning(check, 'It asks to be called less often (429).', 'Try again later.');
  if (status >= 500) return fault(check, `It fails (${status}).`, 'Try again; else ask who runs it.');
  const isJson = response.headers.get('content-type')?.includes('application/json') === true;
  if (status === 200 && isJson) return ok(check, 'It answers, and accepts the key.');
  const message = `What is at this address has no list of orders (${status}).`;
  return fault(check, message, 'Check SERVICE_URL and SERVICE_ORDERS_PATH.');
}

interface Exchange {
  readonly before: number;
  readonly after: number;
}

/** The date is of a moment in the exchange, and cut to its second. */
function judgeClock(date: number, { before, after }: Exchange): Finding {
  const check = 'clock';
  const behindMs = Math.max(0, date - after);
  const aheadMs = Math.max(0, before - (date + 999));
  const seconds = Math.round(Math.max(behindMs, aheadMs) / 1000);
  if (seconds <= notedOffsetSeconds) return ok(check, "It agrees with the service's.");
  const message = `It is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the service's.`;
  const fix = `Synchronize it (NTP): webhooks that are more than ${maxOffsetSeconds} s off are refused.`;
  return seconds > maxOffsetSeconds ? fault(check, message, fix) : warning(check, message, fix);
}

const environments = ['production', 'sandbox'];

/** The management interface: its address and key, and whether a webhook there points at this gateway. */
export async function checkManagement({
  management,
  publicUrl,
  teamId,
}: Config): Promise<readonly Finding[]> {
  if (!management?.service) return [];
  const { keyHeader, orgId } = management;
  const { url, key } = management.service;
  const get = (path: string) => request(`${url}/v1/org/${path}`, { headers: { [keyHeader]: key } });
  const finding = judgeManagement(await get(orgId ?? crypto.randomUUID()), orgId);
  if (finding.fix !== null) return [finding];
  const check = 'management webhook';
  const fix = 'Set PUBLIC_URL, and run the mutation registerGatewayWebhook (docs/management.md).';
  if (publicUrl === null)
    return [finding, warning(check, 'Without PUBLIC_URL the gateway cannot register its webhook.', fix)];
  // Without them it is not known where to look.
  if (orgId === null || teamId === null) return [finding];
  const webhooks = await Promise.all(
    environments.map(async (name) => {
      const list = fieldOf(
        await readJson(await get(`${orgId}/team/${teamId}/${name}/webhook?limit=100`)),
        'data',
      );
      return Array.isArray(list) ? list : [];
    }),
  );
  const own = webhooks.flat().filter((webhook) => fieldOf(webhook, 'url') === `${publicUrl}/webhooks`);
  if (own.length === 0) return [finding, warning(check, 'None points at PUBLIC_URL.', fix)];
  if (own.every((webhook) => fieldOf(webhook, 'disabled') === true))
    return [finding, fault(check, 'The service has switched it off.', fix)];
  return [finding, ok(check, 'It points at PUBLIC_URL.')];
}

function judgeManagement(response: Response | null, orgId: string | null): Finding {
  const check = 'management';
  void response?.body?.cancel();
  if (response === null) return fault(check, 'It does not answer.', 'Check SERVICE_MANAGEMENT_URL.');
  if (response.status === 401)
    return fault(check, 'It refuses the key (401).', 'Check SERVICE_MANAGEMENT_KEY and its header.');
  if (orgId === null || response.ok) return ok(check, 'It answers, and accepts the key.');
  const message = `It does not show the organization (${response.status}).`;
  return fault(check, message, 'Check SERVICE_MANAGEMENT_URL and SERVICE_ORG_ID.');
}
