import { biomarkers, findings } from './biomarkers.ts';
import { seededUuid } from './ids.ts';
import { createLabAccounts, type LabAccount } from './lab-accounts.ts';
import { type LabTestPlan, labs, labTestPlans, panelPlans } from './lab-tests.ts';
import { type Questions, questionsOf } from './questions.ts';

/** One result that a marker is expected to give (specification: expected result). */
interface ExpectedResult {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  readonly lab_id: number;
  readonly provider_id: string;
  readonly required: boolean;
  readonly loinc: {
    readonly id: number;
    readonly name: string;
    readonly slug: string;
    readonly code: string;
    readonly unit: string | null;
  };
}

/** One orderable marker as the service shows it (specification: marker). */
export interface Marker {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly lab_id: number;
  readonly provider_id: string;
  readonly type: 'biomarker' | 'panel';
  readonly unit: string | null;
  readonly price: string;
  readonly aoe: Questions | null;
  readonly a_la_carte_enabled: boolean;
  readonly common_tat_days: number;
  readonly worst_case_tat_days: number;
  readonly is_orderable: boolean;
  readonly expected_results: readonly ExpectedResult[];
}

/** One lab test of the catalogue, with the ids of its markers. */
export interface LabTest extends Omit<LabTestPlan, 'biomarkers' | 'panels'> {
  readonly id: string;
  readonly slug: string;
  readonly markerIds: readonly number[];
}

/** Markers, lab tests and lab accounts; the same for one seed, never changed by a request (see `Growth`). */
export interface Catalogue {
  readonly markers: Marker[];
  readonly labTests: LabTest[];
  readonly labAccounts: readonly LabAccount[];
}

/** Lower-case words joined by hyphens. */
function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

const measurable = [...biomarkers, ...findings];

/**
 * Each type of the service numbers its rows from 1, so markers, expected results, LOINC entries and labs share numbers: 6 is
 * one of each here.
 */
function markerIdOf(ordinal: number, labId: number): number {
  return (labs.find((lab) => lab.id === labId)?.firstMarkerId ?? 0) + ordinal;
}

function expectedResultOf(biomarkerIndex: number, labId: number): ExpectedResult {
  const [name, code, unit] = measurable[biomarkerIndex] ?? ['Unknown', '0-0', null];
  return {
    id: markerIdOf(biomarkerIndex, labId),
    name,
    slug: slugOf(name),
    lab_id: labId,
    provider_id: providerIdOf(biomarkerIndex, labId),
    required: true,
    loinc: { id: 1 + biomarkerIndex, name, slug: slugOf(name), code, unit },
  };
}

/** Test codes of the lab: text, with leading zeros that matter (public service). */
function providerIdOf(ordinal: number, labId: number): string {
  return labId === 27 ? String(300 + ordinal * 7).padStart(6, '0') : `SP-${1000 + ordinal}`;
}

/** Every fourth marker has no price of its own (specification: a placeholder text may be returned). */
function priceOf(ordinal: number): string {
  return ordinal % 4 === 3 ? 'N/A' : (6 + (ordinal % 13) * 1.5).toFixed(2);
}

function biomarkerAt(biomarkerIndex: number, labId: number): Marker {
  const expected = expectedResultOf(biomarkerIndex, labId);
  const { name, slug, provider_id } = expected;
  const id = markerIdOf(biomarkerIndex, labId);
  return {
    id,
    name,
    slug,
    description: `${name} in serum, plasma or blood.`,
    lab_id: labId,
    provider_id,
    type: 'biomarker',
    unit: expected.loinc.unit,
    price: priceOf(biomarkerIndex),
    aoe: questionsOf({ id, name, labId }),
    a_la_carte_enabled: biomarkerIndex % 5 !== 4,
    common_tat_days: 2,
    worst_case_tat_days: 5,
    is_orderable: true,
    expected_results: [expected],
  };
}

function panelIdOf(ordinal: number, labId: number): number {
  return markerIdOf(900 + ordinal, labId);
}

function panelAt(plan: (typeof panelPlans)[number], ordinal: number): Marker {
  return {
    ...biomarkerAt(ordinal, plan.labId),
    id: panelIdOf(ordinal, plan.labId),
    name: plan.name,
    slug: slugOf(plan.name),
    description: `${plan.name}: ${plan.biomarkers.length} results from one sample.`,
    provider_id: providerIdOf(900 + ordinal, plan.labId),
    type: 'panel',
    unit: null,
    aoe: null,
    expected_results: plan.biomarkers.map((index) => expectedResultOf(index, plan.labId)),
  };
}

/** The catalogue of one seed: the ids of lab tests depend on it, markers are the same for every seed. */
export function createCatalogue(seed: number): Catalogue {
  const markers = labs.flatMap((lab) => lab.biomarkers.map((index) => biomarkerAt(index, lab.id)));
  const panels = panelPlans.map(panelAt);
  const labTests = labTestPlans.map(({ biomarkers: measured, panels: ordered = [], ...plan }, ordinal) => ({
    ...plan,
    id: seededUuid(seed, 'lab-test', ordinal),
    slug: slugOf(plan.name),
    markerIds: [
      ...measured.map((index) => markerIdOf(index, plan.labId)),
      ...ordered.map((index) => panelIdOf(index, plan.labId)),
    ],
  }));
  return {
    markers: [...markers, ...panels].sort((a, b) => a.id - b.id),
    labTests,
    labAccounts: createLabAccounts(seed),
  };
}

function presentLab(lab: (typeof labs)[number]) {
  return {
    id: lab.id,
    slug: lab.slug,
    name: lab.name,
    first_line_address: '1 Example Plaza',
    city: lab.city,
    zipcode: '00000',
    collection_methods: lab.methods,
    sample_types: ['serum', 'dried_blood_spot'],
    logo_url: null,
  };
}

/** The id of the lab with this slug, if there is one. */
export function labIdOf(slug: string): number | undefined {
  return labs.find((lab) => lab.slug === slug)?.id;
}

/** The laboratories as the service shows them (public service: ClientFacingLab). */
export function presentLabs() {
  return labs.map(presentLab);
}

/** The lab test as the service shows it, without its markers (public service: ClientFacingLabTest). */
export function presentLabTest(labTest: LabTest) {
  const lab = labs.find((each) => each.id === labTest.labId);
  return {
    id: labTest.id,
    slug: labTest.slug,
    name: labTest.name,
    description: labTest.description,
    sample_type: labTest.sampleType,
    method: labTest.method,
    price: labTest.price,
    is_active: true,
    status: 'active',
    fasting: labTest.fasting,
    lab: lab ? presentLab(lab) : null,
    is_delegated: false,
    auto_generated: false,
    has_collection_instructions: labTest.method === 'testkit',
    common_tat_days: 3,
    worst_case_tat_days: 7,
  };
}
