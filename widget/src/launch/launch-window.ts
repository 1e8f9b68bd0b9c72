import type { LaunchTarget } from './launch-request.ts';

/**
 * Whether this is a WebView of an app. Most have one window: they lose the page when a blank tab is opened, or open it where
 * nobody sees it. Android's name themselves, and Apple's lack the name of the browser.
 */
export function isWebView(): boolean {
  return /; wv\)|AppleWebKit(?!.*Safari)/.test(navigator.userAgent);
}

/**
 * Opens a blank tab that waits for its address; null when the browser blocked it. Call it in the same task as the click:
 * browsers block a tab that is opened after an answer from the network.
 */
export function openLaunchWindow(text: string, language: string): Window | null {
  let tab: Window | null = null;
  try {
    tab = open('about:blank', '_blank');
    // Some blockers hand out a window that is closed at once, others one that nobody can write in, or throw.
    if (!tab || tab.closed) return null;
    writeWaitingText(tab.document, text, language);
    return tab;
  } catch {
    tab?.close();
    return null;
  }
}

/**
 * Sends a tab, or this page, to the portal: without opener, and to the portal itself without a Referer. False when the person
 * has closed the tab.
 */
export function goToPortal(tab: Window, { url, ticket }: LaunchTarget): boolean {
  if (tab.closed) return false;
  if (tab !== window) tab.opener = null;
  if (ticket === null) clickAnchor(tab.document, url);
  else submitTicket(tab.document, url, ticket);
  return true;
}

/** The blank tab inherits the page's CSP, so: DOM methods and the CSSOM only. */
function writeWaitingText(page: Document, text: string, language: string): void {
  page.title = text;
  page.documentElement.lang = language;
  page.documentElement.style.colorScheme = 'light dark';
  page.body.style.cssText = 'font:1.125rem system-ui;text-align:center;margin-top:30vh';
  page.body.dir = 'auto';
  page.body.textContent = text;
}

/** Measured in Chromium: `tab.location = url` sends a Referer, a click on this anchor does not. */
function clickAnchor(page: Document, url: string): void {
  const anchor = page.createElement('a');
  anchor.rel = 'noreferrer';
  // Else a `<base target>` of the page would open another tab.
  anchor.target = '_self';
  anchor.href = url;
  anchor.click();
}

/**
 * Not with `noreferrer`: the gateway compares the ticket with the Origin, which such a form would hide. The blank tab
 * inherits the page's referrer policy, which may hide the Origin or send the page's whole address.
 */
function submitTicket(page: Document, url: string, ticket: string): void {
  const policy = page.createElement('meta');
  const form = page.createElement('form');
  const field = page.createElement('input');
  policy.name = 'referrer';
  policy.content = 'strict-origin';
  page.head.append(policy);
  form.method = 'post';
  form.action = url;
  field.type = 'hidden';
  field.name = 'ticket';
  field.value = ticket;
  form.append(field);
  // Browsers submit a form only if it is in a document.
  page.body.append(form);
  form.submit();
  // In a WebView this is the page's own document, which may stay.
  policy.remove();
  form.remove();
}
