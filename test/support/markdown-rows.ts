/** The rows of the Markdown tables in a text, each as its cells behind an empty one; the first head is left out. */
export function readRows(text: string): readonly (readonly string[])[] {
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) => line.split('|').map((cell) => cell.trim()));
}
