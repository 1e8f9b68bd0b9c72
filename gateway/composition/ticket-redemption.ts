import { redeemLaunchTicket } from '../domain/portal/actions.ts';
import { fetchDocument } from '../domain/result/actions.ts';
import type { DocumentsOptions } from '../http/pages/documents.ts';
import type { LaunchOptions } from '../http/pages/launch.ts';
import type { Contexts } from './contexts.ts';

/** What tickets open: each is spent, and what it is for is asked for with the rights of the caller it was made for. */
export function createTicketRedemption({
  create,
  documentTickets,
  launchTickets,
}: Contexts): Pick<DocumentsOptions, 'openDocument'> & Pick<LaunchOptions, 'openPortal'> {
  return {
    openDocument: async (ticket, signal) => {
      const grant = await documentTickets.redeem(ticket);
      if (grant === null) return null;
      const { service } = create({ caller: grant.caller, left: signal, over: signal });
      const file = await fetchDocument(service, grant);
      return file === null ? null : { ...file, kind: grant.kind };
    },
    openPortal: async (posted, signal) => {
      const opened = await redeemLaunchTicket(launchTickets, posted, (caller) =>
        create({ caller, left: signal, over: signal }),
      );
      if (opened.kind === 'PortalUrl') return opened;
      return opened.kind === 'InputRejected' ? 'BAD_REQUEST' : opened.code;
    },
  };
}
