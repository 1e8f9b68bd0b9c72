import { html, nothing } from 'lit';
import type { Drawing } from '../elements/drawing.ts';
import { drawFlag } from './flag-view.ts';
import { formatDate, formatRange, formatUnit, formatValue } from './numbers.ts';
import { groupByPanel, type Panel } from './panels.ts';
import {
  type Biomarker,
  type LabDate,
  type Laboratory,
  MOST_MISSING,
  MOST_RESULTS,
  type Results,
  type ResultsDetails,
  type ResultsHead,
} from './results.ts';
import type { ResultStrings } from './strings.ts';

/** The words and the language that results are drawn in. */
export interface ResultsTexts {
  readonly texts: ResultStrings;
  readonly language: string;
}

/** Which text says why a result is missing. A reason that is not here is not known to the laboratory either. */
const REASONS: Readonly<Record<string, keyof ResultStrings>> = {
  QUANTITY_NOT_SUFFICIENT_FAILURE: 'missingSample',
  INSUFFICIENT_VOLUME: 'missingSample',
  PATIENT_CONDITION_FAILURE: 'missingSample',
  COLLECTION_PROCESS_FAILURE: 'missingSample',
  DROP_OFF_FAILURE: 'missingTransport',
  INTERNAL_LAB_FAILURE: 'missingLab',
  ORDER_ENTRY_FAILURE: 'missingLab',
  MISSING_RESULT_CALC_FAILURE: 'missingSource',
  MISSING_DEMO_AOE_CALC_FAILURE: 'missingSource',
};

/** Only that there are results, whether more will come, and since when. */
export function drawMinimal({ head }: Results, view: ResultsTexts): Drawing {
  const { texts } = view;
  const isPartial = head.completeness === 'partial';
  return html`
    <p class="headline" part="headline">${isPartial ? texts.partlyHere : texts.here}</p>
    ${drawState({ ...head, completeness: isPartial ? 'partial' : null }, texts)}
    <dl class="facts" part="facts">${drawDate(texts.reported, head.reported, view)}</dl>`;
}

/** Everything that the laboratory reports. */
export function drawFull(head: ResultsHead, details: ResultsDetails, view: ResultsTexts): Drawing {
  const { texts } = view;
  const panels = groupByPanel(details.biomarkers);
  return html`
    <div class="summary" part="summary">${drawState(head, texts)}${drawOverall(head, details, texts)}</div>
    ${panels.map((panel) => drawPanel(panel, panels.length > 1, details, view))}
    ${details.isCut ? drawCut(MOST_RESULTS, texts) : nothing}
    ${drawMissing(details, texts)}
    <dl class="facts" part="facts">
      ${drawDate(texts.collected, head.collected, view)}${drawDate(texts.reported, head.reported, view)}
      ${drawFact(texts.provider, head.provider)}
      ${details.laboratories.map((laboratory) => drawLaboratory(laboratory, texts))}
    </dl>`;
}

function drawState({ completeness, isCorrected }: ResultsHead, texts: ResultStrings): Drawing {
  const state = completeness && { partial: texts.partial, final: texts.complete }[completeness];
  return html`
    ${state ? html`<p class="state ${completeness}" part="state">${state}</p>` : nothing}
    ${isCorrected ? html`<p class="state corrected" part="state">${texts.corrected}</p>` : nothing}`;
}

function drawOverall(head: ResultsHead, details: ResultsDetails, texts: ResultStrings): Drawing {
  const words: Readonly<Record<string, readonly [string, string]>> = {
    NORMAL: ['normal', texts.overallNormal],
    ABNORMAL: ['abnormal', texts.overallAbnormal],
    CRITICAL: ['critical', texts.overallCritical],
  };
  const [kind, text] = words[findGravest(head, details) ?? ''] ?? [];
  return text ? html`<p class="overall ${kind}" part="overall">${text}</p>` : nothing;
}

/** The gravest statement counts: the whole is never shown as less grave than one of the results. */
function findGravest({ overall }: ResultsHead, { biomarkers }: ResultsDetails): string | null {
  if (biomarkers.some(({ flag }) => flag?.startsWith('critical'))) return 'CRITICAL';
  if (overall !== 'NORMAL') return overall;
  const flags = biomarkers.flatMap(({ flag }) => (flag && flag !== 'normal' ? [flag] : []));
  if (flags.some((flag) => flag !== 'unknown')) return 'ABNORMAL';
  // What one of them means is not known here.
  return flags.length ? null : overall;
}

/**
 * A table, also where its rows are drawn below one another: the roles are written out, because the style that does so takes
 * them away.
 */
function drawPanel(
  { name, biomarkers }: Panel,
  isNamed: boolean,
  { laboratories }: ResultsDetails,
  view: ResultsTexts,
): Drawing {
  const { texts } = view;
  const title = name ?? (isNamed ? texts.others : texts.title);
  const caption = html`<caption class="panel-name" part="panel-name"><bdi>${title}</bdi></caption>`;
  const heads = [texts.test, texts.result, texts.range].map(
    (head) => html`<th class="column" part="column" role="columnheader" scope="col">${head}</th>`,
  );
  return html`
    <table class="panel" part="panel" role="table" aria-label=${name || isNamed ? nothing : title}>
      ${name || isNamed ? caption : nothing}
      <thead role="rowgroup"><tr class="columns" role="row">${heads}</tr></thead>
      <tbody role="rowgroup">${biomarkers.map((each) => drawBiomarker(each, laboratories.length > 1, view))}</tbody>
    </table>`;
}

function drawBiomarker(biomarker: Biomarker, isLabNamed: boolean, view: ResultsTexts): Drawing {
  const { texts, language } = view;
  const { name, value, unit, flag, notes, laboratory } = biomarker;
  const range = formatRange(biomarker, texts, language);
  const shownRange =
    range === null ? html`<span class="none">${texts.noRange}</span>` : html`<bdi>${range}</bdi>`;
  const note = notes
    ? html`<p class="note" part="note">${texts.note}${texts.colon}<bdi>${notes}</bdi></p>`
    : nothing;
  const lab =
    isLabNamed && laboratory
      ? html`<p class="note" part="note">${texts.laboratory}${texts.colon}<bdi>${laboratory}</bdi></p>`
      : nothing;
  // Translators change numbers and units now and then, and people need words translated.
  const translate = /\d/.test(value ?? '') ? 'no' : nothing;
  const measured = value
    ? html`<bdi class="value" part="value" translate=${translate}>${formatValue(value, language)}</bdi>${drawUnit(unit)}`
    : html`<span class="none">${texts.noValue}</span>`;
  return html`
    <tr class="biomarker ${flag ?? ''}" part="biomarker" role="row">
      <th class="name" part="name" role="rowheader" scope="row"><bdi>${name ?? texts.test}</bdi>${note}${lab}</th>
      <td role="cell"><span class="measured">${measured}</span>${drawFlag(flag, texts)}</td>
      <td class="range" part="range" role="cell">
        ${value || range ? html`<span class="cell-label">${texts.range}${texts.colon}</span>${shownRange}` : nothing}
      </td>
    </tr>`;
}

function drawUnit(unit: string | null): Drawing {
  const text = unit && formatUnit(unit);
  return text ? html` <bdi class="unit" part="unit" translate="no">${text}</bdi>` : nothing;
}

function drawCut(count: number, texts: ResultStrings): Drawing {
  return html`<p class="cut" part="cut">${texts.cut.replace('{count}', () => String(count))}</p>`;
}

function drawMissing({ missing, isMissingCut }: ResultsDetails, texts: ResultStrings): Drawing {
  if (missing.length === 0) return nothing;
  const rows = missing.map(({ name, reason, note }) => {
    const why = texts[REASONS[reason ?? ''] ?? 'missingUnknown'];
    const more = note
      ? html`<p class="note" part="note">${texts.note}${texts.colon}<bdi>${note}</bdi></p>`
      : nothing;
    return html`<li><bdi class="name" part="name">${name ?? texts.test}</bdi><p class="note" part="note">${why}</p>${more}</li>`;
  });
  return html`
    <div class="missing" part="missing">
      <p class="panel-name" part="panel-name" id="missing">${texts.missing}</p>
      <ul role="list" aria-labelledby="missing">${rows}</ul>
      ${isMissingCut ? drawCut(MOST_MISSING, texts) : nothing}
    </div>`;
}

function drawLaboratory({ name, address, phone, director, clia }: Laboratory, texts: ResultStrings): Drawing {
  const more: readonly (readonly [string, string | null])[] = [
    [texts.phone, phone],
    [texts.director, director],
    [texts.clia, clia],
  ];
  return html`
    <div class="fact" part="fact">
      <dt class="fact-name" part="fact-name">${texts.laboratory}</dt>
      <dd class="laboratory" part="laboratory">
        ${[name, ...address].map((line) => html`<div><bdi>${line}</bdi></div>`)}
        ${more.map(([label, value]) => (value ? html`<div>${label}${texts.colon}<bdi dir=${/^[+\d]/.test(value) ? 'ltr' : 'auto'}>${value}</bdi></div>` : nothing))}
      </dd>
    </div>`;
}

function drawDate(name: string, date: LabDate, { language }: ResultsTexts): Drawing {
  const shown = formatDate(date, language);
  if (!shown) return nothing;
  const { text, machine } = shown;
  return drawFact(name, machine ? html`<time datetime=${machine}>${text}</time>` : text);
}

function drawFact(name: string, value: Drawing | string | null): Drawing {
  if (!value) return nothing;
  return html`
    <div class="fact" part="fact">
      <dt class="fact-name" part="fact-name">${name}</dt>
      <dd><bdi>${value}</bdi></dd>
    </div>`;
}

/** As high as a short report, so that little below moves. */
export function drawResultsSkeleton(label: string): Drawing {
  const row = html`<div class="bone-row"><span class="bone"></span><span class="bone"></span></div>`;
  return html`<div class="skeleton" part="skeleton" role="img" aria-label=${label}>${row}${row}${row}${row}</div>`;
}
