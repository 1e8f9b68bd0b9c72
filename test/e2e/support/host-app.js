/**
 * The script of the host page: gives the elements their tokens, and reports to the test what a page can see.
 * `report` is a binding of the test's; everything else is what a team would write.
 */
const settings = JSON.parse(document.querySelector('#settings').textContent);
/** For tests in browsers without such a binding. */
globalThis.reports = [];
const report = (kind, facts) => {
  globalThis.reports.push({ kind, ...facts });
  globalThis.report?.(JSON.stringify({ kind, ...facts }));
};
const isActive = () => navigator.userActivation.isActive;

document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile }) =>
  report('violation', { directive: violatedDirective, blocked: blockedURI, file: sourceFile }),
);

for (const name of [
  'portal-before-launch',
  'portal-launched',
  'portal-blocked',
  'portal-returned',
  'portal-status',
  'portal-connection',
  'portal-error',
]) {
  document.addEventListener(name, ({ detail }) => report('event', { name, detail, isActive: isActive() }));
}

globalThis.WebSocket = class extends WebSocket {
  constructor(...parameters) {
    super(...parameters);
    this.addEventListener('close', ({ code }) => report('socket-closed', { code }));
  }
};

async function getToken({ reason, scope, orderId, signal }) {
  report('token-asked', { reason, scope, orderId });
  if (settings.token) return settings.token;
  const response = await fetch(settings.tokenPath, { method: 'POST', signal });
  const answer = await response.json();
  return settings.sendsExpiry ? answer : answer.token;
}

// Elements without a gateway around them ask the page.
document.addEventListener('portal-token-request', (event) => event.respondWith(getToken(event.request)));
for (const gateway of document.querySelectorAll('portal-gateway')) gateway.tokenProvider = getToken;

// A page that opens the portal by itself: nobody has clicked, so the browser holds the tab back.
if (settings.launchesAtLoad) {
  addEventListener('load', () => {
    const launch = document.querySelector('portal-launch');
    launch.focus();
    report('launch-at-load', { isActive: isActive() });
    void launch.launch();
  });
}
