/** What a portal page says; it never names a person. */
interface PageText {
  readonly text: string;
  readonly order?: { readonly shortId: string; readonly stage: string; readonly step: string };
}

const style = `
  :root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif; }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #f3f6f7; color: #1d2b30; }
  main { box-sizing: border-box; width: min(30rem, 100% - 2rem); padding: 2rem; border-radius: 16px;
    background: #fff; border: 1px solid #dbe4e7; }
  h1 { margin: 0 0 .75rem; font-size: 1.3rem; font-weight: 600; }
  p { margin: 0 0 1rem; }
  dl { display: grid; grid-template-columns: auto 1fr; gap: .4rem 1.25rem; margin: 0; padding-top: 1rem;
    border-top: 1px solid #dbe4e7; }
  dt { color: #5a6d74; } dd { margin: 0; font-variant-numeric: tabular-nums; }
  small { display: block; margin-top: 1.5rem; color: #5a6d74; }
  @media (prefers-color-scheme: dark) {
    body { background: #12191c; color: #e4edf0; }
    main { background: #1a2428; border-color: #2e3c42; }
    dl { border-color: #2e3c42; } dt, small { color: #9db0b7; }
  }`;

/** `collecting_sample` as `Collecting sample`. */
function words(status: string): string {
  const text = status.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function orderLines(order: NonNullable<PageText['order']>): string {
  return `<dl>
      <dt>Order</dt><dd>${order.shortId}</dd>
      <dt>Stage</dt><dd>${words(order.stage)}</dd>
      <dt>Step</dt><dd>${words(order.step)}</dd>
    </dl>`;
}

/** The whole page as one file; the nonce admits its style. All texts are the sandbox's own. */
export function renderPage(nonce: string, { text, order }: PageText): string {
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Patient portal (sandbox)</title>
  <style nonce="${nonce}">${style}</style>
</head>
<body>
  <main>
    <h1>Patient portal (sandbox)</h1>
    <p>${text}</p>
    ${order ? orderLines(order) : ''}
    <small>This page stands in for the real portal. Everything in it is invented.</small>
  </main>
</body>
</html>
`;
}
