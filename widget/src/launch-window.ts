/** A tab opened in the task of the click, waiting for its address. */
export interface LaunchWindow {
  /** Sends the tab to the address, with neither opener nor Referer; false when the person has closed it. */
  navigate(url: string): boolean;
  close(): void;
}

/**
 * Opens a blank tab; null when the browser held it back. Must be called in the same task as the click:
 * browsers hold back a tab that is opened after an answer from the network.
 */
export function openLaunchWindow(text: string): LaunchWindow | null {
  const tab = window.open('about:blank', '_blank');
  // Some blockers hand out a window that is closed at once.
  if (!tab || tab.closed) return null;
  writeWaitingText(tab.document, text);
  return {
    navigate(url) {
      if (tab.closed) return false;
      tab.opener = null;
      clickAnchor(tab.document, url);
      return true;
    },
    close: () => tab.close(),
  };
}

/** The blank tab inherits the page's CSP, so: DOM methods and the CSSOM only. */
function writeWaitingText(page: Document, text: string): void {
  page.title = text;
  page.documentElement.lang = document.documentElement.lang;
  page.documentElement.style.colorScheme = 'light dark';
  const line = page.createElement('p');
  line.textContent = text;
  Object.assign(line.style, {
    font: '1.125rem system-ui, sans-serif',
    textAlign: 'center',
    marginTop: '30vh',
  });
  page.body.replaceChildren(line);
}

/** Measured in Chromium: `tab.location = url` sends a Referer, a click on this anchor does not. */
function clickAnchor(page: Document, url: string): void {
  const anchor = page.createElement('a');
  anchor.rel = 'noreferrer';
  anchor.referrerPolicy = 'no-referrer';
  anchor.href = url;
  page.body.append(anchor);
  anchor.click();
}
