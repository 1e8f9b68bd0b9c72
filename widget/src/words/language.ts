import { findAround } from '../page/find-around.ts';
import { warnOnce } from '../page/warn-once.ts';
import { mergeStrings, type PartialStrings, type Strings } from './strings.ts';

/**
 * The page's languages, by their first subtag. On `globalThis`, because a language comes as a script of its own, before or
 * after the module with the elements: `portal-widget.de.js` needs nothing of `portal-widget.js`, and neither waits.
 */
const REGISTRY = Symbol.for('labgraph.portal-widget.languages');

interface Languages {
  readonly strings: Map<string, PartialStrings>;
  readonly changed: EventTarget;
}

const TIME_FOR_LANGUAGE_MS = 5000;
const MOST_REPORTS = 10;

/** Languages that were missing once. */
const missing = new Set<string>();

function readLanguages(): Languages {
  const page = globalThis as { [REGISTRY]?: Languages };
  page[REGISTRY] ??= { strings: new Map(), changed: new EventTarget() };
  return page[REGISTRY];
}

/** Adds a language; every element that is in the page and speaks it is drawn again. */
export function addLanguage(language: string, strings: PartialStrings): void {
  const { strings: known, changed } = readLanguages();
  known.set(language, strings);
  changed.dispatchEvent(new Event('change'));
}

/** Calls back when a language was added or the page changed its own, until the answer is called. */
export function whenLanguageChanged(react: () => void): () => void {
  const { changed } = readLanguages();
  const observer = new MutationObserver(react);
  changed.addEventListener('change', react);
  observer.observe(document, { subtree: true, attributeFilter: ['lang'] });
  return () => {
    changed.removeEventListener('change', react);
    observer.disconnect();
  };
}

/** The language of an element's surroundings, through shadow roots; empty if the page does not name one. */
export function readLanguage(element: Element): string {
  return findAround(element, '[lang]')?.getAttribute('lang') ?? '';
}

/** The texts of this language, English where it is not there, with a host's own texts over them. */
export function readStrings(language: string, own: PartialStrings | null): Strings {
  return mergeStrings(findStrings(language), own);
}

/** Whether there are texts in this language; English if the page names none. */
export function isSpoken(language: string): boolean {
  return /^(en\b|$)/i.test(language) || Boolean(findStrings(language));
}

/** Warns once of a language of the page that has no texts. Its script may come after the elements, so there is time for it. */
export function reportMissing(language: string): void {
  if (isSpoken(language) || missing.size === MOST_REPORTS || missing.has(language)) return;
  missing.add(language);
  const file = `portal-widget.${readFirst(language)}.js`;
  const report = () =>
    isSpoken(language) || warnOnce(`no texts for lang="${language}". Load ${file} or call addLanguage.`);
  setTimeout(report, TIME_FOR_LANGUAGE_MS);
}

/**
 * Writes a number or a time in the language of the texts, never in the browser's: "1,234" in English texts is another
 * number than in German ones. A `lang` that is no tag, as es_MX, is read as one; where that fails, its first part counts.
 */
export function inLanguage<Written>(
  language: string,
  write: (locales: readonly string[]) => Written,
): Written {
  for (const tag of [language.replace('_', '-'), readFirst(language)]) {
    try {
      return write([tag, 'en']);
    } catch {}
  }
  return write(['en']);
}

function readFirst(language: string): string {
  return language.toLowerCase().replace(/[-_].*/, '');
}

function findStrings(language: string): PartialStrings | undefined {
  return readLanguages().strings.get(readFirst(language));
}
