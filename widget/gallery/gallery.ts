import '../src/results/define.ts';
import '../src/languages/ar.ts';
import '../src/languages/de.ts';
import '../src/languages/es.ts';
import '../src/languages/fr.ts';
import '../src/languages/pt.ts';
import { RESULT_SECTIONS } from './result-states.ts';
import { DIFFICULT_PAGES, HOSTS, hostState, SECTIONS, type State } from './states.ts';

/** `?theme=dark&lang=ar&section=Trouble`: the address says what is shown, so that it can be shared and photographed. */
const wish = new URLSearchParams(location.search);
const { documentElement } = document;
const main = document.querySelector('main');
const form = document.querySelector('form');

function dress(): void {
  documentElement.dataset.theme = wish.get('theme') ?? 'light';
  documentElement.lang = wish.get('lang') ?? 'en';
  documentElement.dir = documentElement.lang === 'ar' ? 'rtl' : 'ltr';
}

function card<Shown extends HTMLElement>(caption: string, state: State<Shown>, host = ''): HTMLElement {
  const figure = document.createElement('figure');
  const stage = document.createElement('div');
  const text = document.createElement('figcaption');
  const element = state.make();
  stage.className = `stage ${host}`;
  stage.append(element);
  text.textContent = caption;
  text.lang = 'en';
  text.dir = 'auto';
  figure.append(stage, text);
  queueMicrotask(() => state.act?.(element));
  return figure;
}

function section(title: string, cards: readonly HTMLElement[]): HTMLElement {
  const node = document.createElement('section');
  const heading = document.createElement('h2');
  const list = document.createElement('div');
  heading.textContent = title;
  heading.lang = 'en';
  list.className = 'cards';
  list.append(...cards);
  node.append(heading, list);
  return node;
}

function pageCards(pages: Readonly<Record<string, string>>): readonly HTMLElement[] {
  return Object.entries(pages).map(([page, name]) => card(name, { name, make: hostState }, `${page} wide`));
}

function show(): void {
  dress();
  const sections = [
    ...SECTIONS.map(({ title, states }) => ({
      title,
      cards: () => states.map((state) => card(state.name, state)),
    })),
    ...Object.entries(RESULT_SECTIONS).map(([title, states]) => ({
      title,
      cards: () => states.map((state) => card(state.name, state, 'wide')),
    })),
    { title: 'In the design of others', cards: () => pageCards(HOSTS) },
    { title: 'On difficult pages', cards: () => pageCards(DIFFICULT_PAGES) },
  ];
  const only = wish.get('section');
  main?.replaceChildren(
    ...sections
      .filter(({ title }) => !only || title === only)
      .map(({ title, cards }) => section(title, cards())),
  );
}

for (const [name, value] of wish) {
  const field = form?.elements.namedItem(name);
  if (field instanceof HTMLSelectElement) field.value = value;
}
form?.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLSelectElement)) return;
  wish.set(target.name, target.value);
  history.replaceState(null, '', `?${wish}`);
  show();
});
show();
