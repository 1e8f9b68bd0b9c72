import type { CollectionMethod } from '../orders/states.ts';
import { biomarkers } from './biomarkers.ts';

/** The numbers from `first` to `last`, both included. */
function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
}

const everyMethod: readonly CollectionMethod[] = [
  'testkit',
  'walk_in_test',
  'at_home_phlebotomy',
  'on_site_collection',
];

/** Both labs measure the first biomarkers, so one LOINC code is found at two labs. */
export const labs = [
  {
    id: 6,
    firstMarkerId: 1,
    slug: 'specimen-labs',
    name: 'Specimen Labs (invented)',
    city: 'Sampleton',
    methods: everyMethod.slice(1),
    biomarkers: range(0, 15),
  },
  {
    id: 27,
    firstMarkerId: 27_000,
    slug: 'example-diagnostics',
    name: 'Example Diagnostics (invented)',
    city: 'Exampleville',
    methods: everyMethod,
    biomarkers: range(0, biomarkers.length - 1),
  },
] as const;

/** Markers that bring several results at once. */
export const panelPlans = [
  { name: 'Lipid Panel', labId: 27, biomarkers: range(2, 7) },
  { name: 'Complete Blood Count', labId: 27, biomarkers: range(20, 33) },
  { name: 'Comprehensive Metabolic Panel', labId: 27, biomarkers: [0, ...range(34, 48)] },
  { name: 'Lipid Panel', labId: 6, biomarkers: range(2, 7) },
  // Biomarkers and findings have one numbering: findings follow.
  { name: 'Kidney Function', labId: 27, biomarkers: [42, 43, biomarkers.length + 3] },
  { name: 'Urinalysis', labId: 27, biomarkers: [0, 1, 2, 4].map((place) => biomarkers.length + place) },
] as const;

/** A lab test without the ids of one seed; `biomarkers` and `panels` are indices of their lists. */
export interface LabTestPlan {
  readonly name: string;
  readonly description: string;
  readonly method: CollectionMethod;
  readonly sampleType: string;
  readonly price: number;
  readonly fasting: boolean;
  readonly labId: number;
  readonly biomarkers: readonly number[];
  readonly panels?: readonly number[];
}

/** Two lab tests for each collection method; the third has more than twenty markers, the fifth has panels. */
export const labTestPlans: readonly LabTestPlan[] = [
  {
    name: 'Heart and Metabolism Kit',
    description: 'A finger-prick kit for blood fats, sugar and inflammation.',
    method: 'testkit',
    sampleType: 'dried_blood_spot',
    price: 89,
    fasting: true,
    labId: 27,
    biomarkers: [1, ...range(2, 8)],
  },
  {
    name: 'Thyroid and Vitamins Kit',
    description: 'A finger-prick kit for thyroid hormones and vitamins.',
    method: 'testkit',
    sampleType: 'arm_collector',
    price: 99,
    fasting: false,
    labId: 27,
    biomarkers: range(10, 16),
  },
  {
    name: 'Complete Wellness Panel',
    description: 'A broad look at blood, metabolism and vitamins at a service center.',
    method: 'walk_in_test',
    sampleType: 'serum',
    price: 149,
    fasting: true,
    labId: 27,
    biomarkers: range(0, 27),
  },
  {
    name: 'Lipid Check',
    description: 'Blood fats at a service center.',
    method: 'walk_in_test',
    sampleType: 'serum',
    price: 39,
    fasting: true,
    labId: 6,
    biomarkers: range(2, 7),
  },
  {
    name: 'Annual Check-up',
    description: 'Blood fats, blood count, kidneys and urine, drawn at home.',
    method: 'at_home_phlebotomy',
    sampleType: 'serum',
    price: 129,
    fasting: true,
    labId: 27,
    biomarkers: [10, 13, 16],
    panels: [0, 1, 4, 5],
  },
  {
    name: 'Hormone Balance',
    description: 'Sex and stress hormones, drawn at home.',
    method: 'at_home_phlebotomy',
    sampleType: 'serum',
    price: 179,
    fasting: false,
    labId: 27,
    biomarkers: range(52, 59),
  },
  {
    name: 'Metabolic Panel',
    description: 'Sugar, liver, kidney and salts, drawn on site.',
    method: 'on_site_collection',
    sampleType: 'serum',
    price: 59,
    fasting: true,
    labId: 27,
    biomarkers: [0, ...range(34, 48)],
  },
  {
    name: 'Sugar and Inflammation Check',
    description: 'Sugar and inflammation, drawn on site.',
    method: 'on_site_collection',
    sampleType: 'serum',
    price: 49,
    fasting: false,
    labId: 6,
    biomarkers: [0, 1, 8, 9],
  },
];
