/**
 * The page with this text between the marks of a word, at its end where it has none: what people wrote around it stays.
 * @param word such as `measured`
 */
export function putMarked(page: string, word: string, text: string): string {
  const [begin, end] = [`<!-- ${word}: made by the command -->`, `<!-- end of what was ${word} -->`];
  const marked = `${begin}\n\n${text}\n\n${end}`;
  const [before, after] = [page.indexOf(begin), page.indexOf(end)];
  if (before === -1 || after === -1) return `${page}\n${marked}\n`;
  return page.slice(0, before) + marked + page.slice(after + end.length);
}
