import { cssProperties, sharedStates, statusParts } from './looks.ts';
import { sharedEvents, sharedMethods, sharedProperties, sharedReadonly, updateComplete } from './members.ts';
import type { ElementContract, Named, Property } from './types.ts';

/** What results say in other words than a status. */
const TEXTS: Readonly<Record<string, string>> = {
  orderId: 'The order whose results are shown.',
  live: 'When the results are followed: while the element is visible, always, or never (they are read once).',
  privacy:
    '`full` requests and shows the results; with `minimal` no value reaches the page, only whether there are results.',
};

const NOT_HERE = ['status', 'statusLabel', 'pollInterval'];

const properties: readonly Property[] = sharedProperties
  .filter(({ name }) => !NOT_HERE.includes(name))
  .map((property) => ({ ...property, text: TEXTS[property.name] ?? property.text }));

const PARTS = [
  'test-name',
  'empty',
  'skeleton',
  'text',
  'mark',
  'attention',
  'disc',
  'line',
  'words',
  'error',
  'retry',
];

const parts: readonly Named[] = [
  { name: 'frame', text: 'Around everything.' },
  { name: 'results', text: 'Around results and footer.' },
  { name: 'headline', text: 'That there are results, with `privacy="minimal"`.' },
  { name: 'summary', text: 'Above the tables.' },
  { name: 'state', text: 'Whether all results are there, and whether they were corrected.' },
  {
    name: 'overall',
    text: "The laboratory's interpretation of the results as a whole, and never less grave than that of one of them.",
  },
  { name: 'panel', text: 'The table of one panel.' },
  { name: 'panel-name', text: 'Its name, and the heading of the results that will not come.' },
  { name: 'column', text: 'The head of a column.' },
  { name: 'biomarker', text: 'The row of one result.' },
  { name: 'name', text: 'The name of a result.' },
  { name: 'value', text: 'Its value.' },
  { name: 'unit', text: 'Its unit.' },
  { name: 'range', text: 'Its expected range.' },
  {
    name: 'flag',
    text: 'How it compares with the range; also `normal`, `high`, `low`, `abnormal` or `critical`.',
  },
  { name: 'normal', text: 'A flag: as expected.' },
  { name: 'high', text: 'A flag: above the range.' },
  { name: 'low', text: 'A flag: below the range.' },
  { name: 'abnormal', text: 'A flag: not as expected.' },
  { name: 'critical', text: 'A flag: needs attention at once.' },
  { name: 'note', text: 'A note of the laboratory, and what became of the report.' },
  { name: 'cut', text: 'The sentence that not all results are shown.' },
  { name: 'missing', text: 'The results that will not come.' },
  { name: 'facts', text: 'Dates, physician and laboratories.' },
  { name: 'fact', text: 'One of them.' },
  { name: 'fact-name', text: 'Its name.' },
  { name: 'laboratory', text: 'Name and address of a laboratory.' },
  { name: 'report', text: 'Around the button of the report.' },
  { name: 'download', text: 'The button that downloads the report.' },
  { name: 'freshness', text: 'How old the results are, while that is not known to be now.' },
  ...statusParts.filter(({ name }) => PARTS.includes(name)),
];

/** `<portal-results>` */
export const portalResults: ElementContract = {
  tag: 'portal-results',
  className: 'PortalResults',
  file: 'results/portal-results.ts',
  text: 'The results of an order, live. The token needs the scope `read:results`.',
  properties,
  readonlyProperties: [
    {
      name: 'phase',
      type: "'empty' | 'loading' | 'none' | 'ready' | 'failed'",
      text: 'Whether there are results to show yet.',
    },
    ...sharedReadonly,
    updateComplete,
  ],
  methods: sharedMethods,
  events: sharedEvents,
  slots: [
    { name: 'empty', text: 'Shown where there is no order.' },
    { name: 'none', text: 'Shown while an order has no results.' },
    { name: 'loading', text: 'Shown until the first answer is there.' },
    { name: 'error', text: 'Replaces the text of every error.' },
    { name: 'error-<code>', text: 'Replaces the text of one error, as in `error-scope-missing`.' },
    { name: 'footer', text: 'Below everything.' },
  ],
  parts,
  states: [
    ...sharedStates.filter(({ name }) => name !== 'attention' && name !== 'terminal'),
    { name: 'empty', text: 'There is no order.' },
    { name: 'loading', text: 'The first answer has not arrived yet.' },
    { name: 'none', text: 'The order has no results yet.' },
    { name: 'ready', text: 'Results are shown.' },
    { name: 'failed', text: 'An error is shown instead of the results.' },
    { name: 'partial', text: 'More results are still to come.' },
  ],
  cssProperties: cssProperties.filter(({ name }) => !['--portal-on-good', '--portal-good'].includes(name)),
};
