import type { PortalClient } from '../client/client.ts';
import { parseAddress } from '../gateway/addresses.ts';
import { PortalError } from '../gateway/errors.ts';
import { type Fields, readFields, readText } from '../gateway/fields.ts';
import { toErrorCode } from '../gateway/gateway-error.ts';
import { CREATE_DOCUMENT_TICKET } from './operations.ts';

/**
 * The address of the report of an order, for one download within a minute; null while there is no report.
 * @throws PortalError; URL_REJECTED unless the address is the gateway's
 */
export function requestReport(
  client: PortalClient,
  orderId: string,
  signal: AbortSignal,
): Promise<string | null> {
  const read = ({ document }: Fields): string | null => {
    const { __typename, url } = readFields(document);
    if (__typename === 'DocumentNotReady') return null;
    const path = readText(url);
    if (!path) throw new PortalError(toErrorCode(__typename));
    // Beside the endpoint: the gateway may be behind a path that it does not know.
    const address = parseAddress(path.replace(/^\//, ''), client.endpoint);
    if (address?.origin !== new URL(client.endpoint).origin) throw new PortalError('URL_REJECTED');
    return address.href;
  };
  const request = {
    query: CREATE_DOCUMENT_TICKET,
    variables: { orderId },
    scope: 'results',
    orderId,
    isWhole: true,
    read,
  } as const;
  return client.execute(request, signal);
}

/**
 * Downloads from an address of the gateway, which answers one request with an attachment: the page stays. Not in a new tab,
 * which browsers block after the wait for the ticket. Android's WebView hides downloads from its app until they are
 * requested, so there it is a navigation, which the app can open in the system's browser.
 */
export function download(url: string): void {
  const link = document.createElement('a');
  link.href = url;
  if (!navigator.userAgent.includes('; wv)')) link.download = '';
  // Else a `<base target>` of the page would open one.
  link.target = '_self';
  link.rel = 'noreferrer';
  link.click();
}
