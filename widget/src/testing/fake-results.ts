/** Results of an order as the gateway sends them; every field may be null or missing, as a laboratory may leave it out. */
export interface FakeResults {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly biomarkers: readonly Readonly<Record<string, unknown>>[];
  readonly missing: readonly Readonly<Record<string, unknown>>[];
  readonly samples: readonly Readonly<Record<string, unknown>>[];
}

/** One result as the gateway sends it: a number within its range, unless `more` says otherwise. */
export function fakeBiomarker(
  name: string,
  value: string,
  more: Readonly<Record<string, unknown>> = {},
): FakeResults['biomarkers'][number] {
  return {
    name,
    value,
    type: 'NUMERIC',
    unit: null,
    referenceRange: null,
    isAboveRange: false,
    isBelowRange: false,
    interpretation: 'NORMAL',
    interpretationRaw: 'normal',
    sourceInterpretation: 'N',
    notes: null,
    performingLaboratory: 'Example Diagnostics',
    sourceMarkers: [{ name }],
    ...more,
  };
}

const high = {
  isAboveRange: true,
  interpretation: 'ABNORMAL',
  interpretationRaw: 'abnormal',
  sourceInterpretation: 'H',
};
const low = {
  isBelowRange: true,
  interpretation: 'ABNORMAL',
  interpretationRaw: 'abnormal',
  sourceInterpretation: 'L',
};
const lipids = { unit: 'mg/dL', sourceMarkers: [{ name: 'Lipid Panel' }] };
const urine = { type: 'CODED_VALUE', sourceMarkers: [{ name: 'Urinalysis' }] };

/** The results of a check-up: panels, flags, words, bounds and a remark. `more` replaces fields of the whole. */
export function fakeResults(more: Partial<FakeResults> = {}): FakeResults {
  return {
    metadata: {
      statusRaw: 'final',
      interpretation: 'ABNORMAL',
      laboratory: 'Example Diagnostics',
      cliaNumber: '00D0000000',
      provider: 'Dr. Jordan Placeholder',
      collectedAt: '2026-03-02T09:30:00.000Z',
      collectedOn: '2026-03-02',
      reportedOn: '2026-03-04',
    },
    biomarkers: [
      fakeBiomarker('Cholesterol, Total', '231', { ...lipids, ...high, referenceRange: '<200' }),
      fakeBiomarker('HDL Cholesterol', '38', { ...lipids, ...low, referenceRange: '>39' }),
      fakeBiomarker('Triglycerides', '112', { ...lipids, referenceRange: '<150' }),
      fakeBiomarker('Urine Protein', 'Negative', { ...urine, referenceRange: 'Negative' }),
      fakeBiomarker('Urine Nitrite', 'Positive', {
        ...urine,
        referenceRange: 'Negative',
        interpretation: 'ABNORMAL',
        interpretationRaw: 'abnormal',
        sourceInterpretation: 'A',
        notes: 'Repeated, with the same result.',
      }),
      fakeBiomarker('Urine Color', 'Yellow', urine),
      fakeBiomarker('Thyroid Stimulating Hormone', '2.14', { unit: 'm[IU]/L', referenceRange: '0.45-4.50' }),
      fakeBiomarker('Potassium', '6.9', {
        ...high,
        unit: 'mmol/L',
        referenceRange: '3.5-5.2',
        interpretation: 'CRITICAL',
        interpretationRaw: 'critical',
        sourceInterpretation: 'HH',
      }),
    ],
    missing: [{ name: 'Ferritin', reason: 'QUANTITY_NOT_SUFFICIENT_FAILURE', note: null }],
    samples: [
      {
        performingLaboratories: [
          {
            name: 'Example Diagnostics',
            phoneNumber: '+16025550142',
            medicalDirector: 'Dr. Robin Standin',
            address: {
              firstLine: '1 Example Plaza',
              city: 'Phoenix',
              state: 'AZ',
              zip: '85004',
              country: 'United States',
            },
          },
        ],
      },
    ],
    ...more,
  };
}
