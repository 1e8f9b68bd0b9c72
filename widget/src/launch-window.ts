/** Where a launch goes: a tab opened in the task of the click and waiting, or this page. */
export interface LaunchWindow {
  /** Goes to the address, with neither opener nor Referer; false when the person has closed the tab. */
  readonly navigate: (url: string) => boolean;
  /** Posts a ticket there, which answers with the way on; false when the person has closed the tab. */
  readonly post: (url: string, ticket: string) => boolean;
  readonly close: () => void;
}

/**
 * Opens a blank tab; null when the browser held it back. Must be called in the same task as the click:
 * browsers hold back a tab that is opened after an answer from the network.
 */
export function openLaunchWindow(text: string): LaunchWindow | null {
  const tab = open('about:blank', '_blank');
  // Some blockers hand out a window that is closed at once.
  if (!tab || tab.closed) return null;
  writeWaitingText(tab.document, text);
  return createLaunchWindow(tab);
}

/** This page itself. */
export function useThisPage(): LaunchWindow {
  return createLaunchWindow(window);
}

function createLaunchWindow(tab: Window): LaunchWindow {
  function go(leave: (page: Document) => void): boolean {
    if (tab.closed) return false;
    if (tab !== window) tab.opener = null;
    leave(tab.document);
    return true;
  }
  return {
    navigate: (url) => go((page) => clickAnchor(page, url)),
    post: (url, ticket) => go((page) => submitTicket(page, url, ticket)),
    close: () => {
      if (tab !== window) tab.close();
    },
  };
}

/** The blank tab inherits the page's CSP, so: DOM methods and the CSSOM only. */
function writeWaitingText(page: Document, text: string): void {
  page.title = text;
  page.documentElement.lang = document.documentElement.lang;
  page.documentElement.style.colorScheme = 'light dark';
  page.body.style.cssText = 'font:1.125rem system-ui;text-align:center;margin-top:30vh';
  page.body.textContent = text;
}

/** Measured in Chromium: `tab.location = url` sends a Referer, a click on this anchor does not. */
function clickAnchor(page: Document, url: string): void {
  const anchor = page.createElement('a');
  anchor.rel = 'noreferrer';
  anchor.referrerPolicy = 'no-referrer';
  anchor.href = url;
  anchor.click();
}

/** Without `noreferrer`: the gateway holds the ticket against the Origin, which a form without a referrer hides. */
function submitTicket(page: Document, url: string, ticket: string): void {
  const form = page.createElement('form');
  const field = page.createElement('input');
  form.method = 'post';
  form.action = url;
  field.type = 'hidden';
  field.name = 'ticket';
  field.value = ticket;
  form.append(field);
  // A form that stands in no document is never submitted.
  page.body.append(form);
  form.submit();
  form.remove();
}
