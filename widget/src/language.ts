import { findAround } from './find-around.ts';
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
  return /^(en\b|$)/i.test(language) || findStrings(language) !== undefined;
}

function findStrings(language: string): PartialStrings | undefined {
  const [first = ''] = language.toLowerCase().split(/[-_]/);
  return readLanguages().strings.get(first);
}

/** A time in the language's format, with the date unless it is today; empty if it is not a time. */
export function formatTime(time: string | number | null | undefined, language: string): string {
  const date = new Date(time ?? Number.NaN);
  if (Number.isNaN(+date)) return '';
  const isToday = date.toDateString() === new Date().toDateString();
  const form = { dateStyle: isToday ? undefined : 'medium', timeStyle: 'short' } as const;
  try {
    return date.toLocaleString(language || undefined, form);
  } catch {
    // A `lang` that is no language, as in en_US, must not take the status away.
    return date.toLocaleString(undefined, form);
  }
}
