const warned = new Set<string>();

/** Tells the page's developer, where developers look, once per page. */
export function warnOnce(text: string): void {
  if (warned.has(text)) return;
  warned.add(text);
  // biome-ignore lint/suspicious/noConsole: for the page's developer
  console.warn(`Labgraph widget: ${text}`);
}
