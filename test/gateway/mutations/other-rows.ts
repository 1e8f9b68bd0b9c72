import type { SpoiltLab } from '../../support/spoilt-lab.ts';
import { firstUser } from './order-rows.ts';
import { after, canary, closed, given, type Row } from './row.ts';
import { orderAt } from './upkeep-rows.ts';

const portal = /^POST \/v2\/user\/[^/]+\/create_portal_url$/;
const demographics = /^GET \/v2\/user\/[^/]+\/info\/latest$/;
const document = /^GET \/v3\/order\/[^/]+\/result\/pdf$/;
const upload = /^POST \/lab_report\/v1\/parser\/job$/;

const pdf = (text: string) => new File([`%PDF-1.4 ${text}`], `${canary}.pdf`, { type: 'application/pdf' });
const nothing = () => null;

function userWith(lab: SpoiltLab, hasDemographics: boolean): string | undefined {
  return lab.sandbox.users().find((user) => user.hasDemographics === hasDemographics)?.userId;
}

function jobsOf(lab: SpoiltLab): number {
  return lab.sandbox.webhooks.sent.filter(({ eventType }) => eventType === 'lab_report.parsing_job.created')
    .length;
}

export const otherRows: readonly Row[] = [
  {
    mutation: 'createPortalUrl',
    success: 'PortalUrl',
    selection: '... on PortalUrl { url expiresIn } ... on PortalUrlRejected { demographicsMissing }',
    arrange: (lab) => {
      const userId = userWith(lab, true);
      const order = lab.sandbox.orders().find((each) => each.userId === userId);
      return { input: { userId, context: 'LAUNCH', orderId: order?.orderId } };
    },
    refusals: {
      PortalUrlRejected: given(({ lab }) => ({ userId: userWith(lab, false), orderId: null })),
      InputRejected: given({ userId: null }),
      NotFound: given(() => ({ userId: crypto.randomUUID(), orderId: null })),
      FeatureNotEnabled: closed(portal),
    },
    asks: { call: portal, kind: 'write', canLook: false, waits: false },
    trace: nothing,
    leavesNoTrace: 'Each link is separate and expires by itself.',
    again: 'PortalUrl',
  },
  {
    mutation: 'createLaunchTicket',
    success: 'LaunchTicket',
    selection: '... on LaunchTicket { ticket expiresAt } ... on PortalUrlRejected { demographicsMissing }',
    arrange: (lab) => ({ input: { userId: userWith(lab, true), orderId: null } }),
    refusals: {
      PortalUrlRejected: given(({ lab }) => ({ userId: userWith(lab, false) })),
      InputRejected: given({ userId: null }),
      NotFound: given(() => ({ userId: crypto.randomUUID() })),
    },
    asks: { call: demographics, kind: 'read', canLook: false, waits: false },
    trace: nothing,
    leavesNoTrace: 'The service is only asked whether the user has demographics.',
    again: 'LaunchTicket',
  },
  {
    mutation: 'createDocumentTicket',
    success: 'DocumentTicket',
    selection: '... on DocumentTicket { url expiresAt }',
    arrange: (lab) => ({ input: { orderId: orderAt(lab, '.completed'), kind: 'RESULT' } }),
    refusals: {
      InputRejected: given({ orderId: canary }),
      DocumentNotReady: given(({ lab }) => ({ orderId: orderAt(lab, '.ordered') })),
      NotFound: given(() => ({ orderId: crypto.randomUUID() })),
      FeatureNotEnabled: closed(document),
    },
    asks: { call: document, kind: 'read', canLook: false, waits: false },
    trace: nothing,
    leavesNoTrace: 'The service is only asked whether it has the document.',
    again: 'DocumentTicket',
  },
  {
    mutation: 'createLabReport',
    success: 'LabReportCreated',
    selection: '... on LabReportCreated { labReport { id } }',
    arrange: (lab) => ({
      input: {
        userId: firstUser(lab),
        files: [pdf(canary)],
        needsHumanReview: true,
        idempotencyKey: `${canary}-1`,
      },
    }),
    refusals: {
      InputRejected: given({ files: [new File([canary], `${canary}.txt`)] }),
      IdempotencyConflict: after({ files: [pdf(`${canary} other`)] }),
      NotFound: given(() => ({ userId: crypto.randomUUID() })),
      FeatureNotEnabled: closed(upload),
    },
    // Reports cannot be listed: only the webhook of a report shows its outcome.
    asks: { call: upload, kind: 'write', canLook: false, waits: true },
    trace: jobsOf,
    again: 'LabReportCreated',
  },
  {
    mutation: 'createViewerToken',
    success: 'ViewerToken',
    selection: 'token expiresAt',
    arrange: (lab) => ({ input: { userId: firstUser(lab), scopes: ['read:orders'] } }),
    refusals: {},
    asks: null,
    trace: nothing,
    leavesNoTrace: 'The gateway signs tokens by itself and stores none.',
    again: 'ViewerToken',
  },
  {
    mutation: 'revokeViewerTokens',
    success: 'ViewerTokensRevoked',
    selection: 'revokedAt',
    arrange: (lab) => ({ input: { userId: firstUser(lab) } }),
    refusals: {},
    asks: null,
    trace: nothing,
    leavesNoTrace: 'The service knows no viewer tokens.',
    again: 'ViewerTokensRevoked',
  },
];
