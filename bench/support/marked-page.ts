/**
 * The page with this text between its two marks, or at its end if it has none. The text around the marks stays.
 * @param name of the marks, such as `measured`
 */
export function putMarked(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}: made by the command -->`, `<!-- end of what was ${name} -->`];
  const marked = `${begin}\n\n${text}\n\n${end}`;
  const [before, after] = [page.indexOf(begin), page.indexOf(end)];
  if (before === -1 || after === -1) return `${page}\n${marked}\n`;
  return page.slice(0, before) + marked + page.slice(after + end.length);
}
