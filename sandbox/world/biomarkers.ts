/** The values of healthy adults. Ranges of common textbooks, rounded: good for a demo, not for care. */
export interface Range {
  readonly low: number;
  readonly high: number;
  readonly decimals: number;
  /** The bounds that a lab prints. */
  readonly printed: 'both' | 'low' | 'high';
  /** A value that would need attention at once. */
  readonly critical?: number;
}

type RangeRow = readonly [low: number, high: number, decimals: number, more?: Partial<Range>];

/** One measurable thing: name, LOINC code, unit in the spelling of UCUM, range. */
type Biomarker = readonly [name: string, loinc: string, unit: string, range: RangeRow];

const upTo = { printed: 'high' } as const;
const atLeast = { printed: 'low' } as const;

/** Sixty biomarkers with their true LOINC codes; everything else about the catalogue is invented. */
export const biomarkers: readonly Biomarker[] = [
  ['Glucose', '2345-7', 'mg/dL', [70, 99, 0, { critical: 486 }]],
  ['Hemoglobin A1c', '4548-4', '%', [4.2, 5.6, 1, upTo]],
  ['Cholesterol, Total', '2093-3', 'mg/dL', [130, 199, 0, upTo]],
  ['HDL Cholesterol', '2085-9', 'mg/dL', [40, 85, 0, atLeast]],
  ['LDL Cholesterol, Calculated', '13457-7', 'mg/dL', [45, 99, 0, upTo]],
  ['Triglycerides', '2571-8', 'mg/dL', [50, 149, 0, upTo]],
  ['Cholesterol/HDL Ratio', '9830-1', '{ratio}', [2.1, 4.9, 1, upTo]],
  ['VLDL Cholesterol, Calculated', '13458-5', 'mg/dL', [5, 40, 0]],
  ['C-Reactive Protein, High Sensitivity', '30522-7', 'mg/L', [0.2, 2.9, 1, upTo]],
  ['C-Reactive Protein', '1988-5', 'mg/L', [1, 9, 0, upTo]],
  ['Thyroid Stimulating Hormone', '3016-3', 'm[IU]/L', [0.45, 4.5, 2]],
  ['Free T4', '3024-7', 'ng/dL', [0.82, 1.77, 2]],
  ['Free T3', '3051-0', 'pg/mL', [2, 4.4, 1]],
  ['Vitamin D3, 25-Hydroxy', '1989-3', 'ng/mL', [30, 100, 1]],
  ['Vitamin B12', '2132-9', 'pg/mL', [232, 1245, 0]],
  ['Folate', '2284-8', 'ng/mL', [3.1, 19, 1, atLeast]],
  ['Ferritin', '2276-4', 'ng/mL', [30, 300, 0]],
  ['Iron', '2498-4', 'ug/dL', [38, 169, 0]],
  ['Total Iron Binding Capacity', '2500-7', 'ug/dL', [250, 450, 0]],
  ['Iron Saturation', '2502-3', '%', [15, 55, 0]],
  ['Hemoglobin', '718-7', 'g/dL', [13, 17.7, 1, { critical: 6.1 }]],
  ['Hematocrit', '4544-3', '%', [37.5, 51, 1]],
  ['White Blood Cells', '6690-2', '10*3/uL', [3.4, 10.8, 1]],
  ['Red Blood Cells', '789-8', '10*6/uL', [4.14, 5.8, 2]],
  ['Platelets', '777-3', '10*3/uL', [150, 450, 0, { critical: 18 }]],
  ['Mean Corpuscular Volume', '787-2', 'fL', [79, 97, 0]],
  ['Mean Corpuscular Hemoglobin', '785-6', 'pg', [26.6, 33, 1]],
  ['Mean Corpuscular Hemoglobin Concentration', '786-4', 'g/dL', [31.5, 35.7, 1]],
  ['Red Cell Distribution Width', '788-0', '%', [11.6, 15.4, 1]],
  ['Neutrophils', '770-8', '%', [40, 70, 0]],
  ['Lymphocytes', '736-9', '%', [20, 45, 0]],
  ['Monocytes', '5905-5', '%', [4, 12, 0]],
  ['Eosinophils', '713-8', '%', [0, 5, 0, upTo]],
  ['Basophils', '706-2', '%', [0, 1, 0, upTo]],
  ['Alanine Aminotransferase', '1742-6', 'U/L', [8, 44, 0, upTo]],
  ['Aspartate Aminotransferase', '1920-8', 'U/L', [10, 40, 0, upTo]],
  ['Alkaline Phosphatase', '6768-6', 'U/L', [44, 121, 0]],
  ['Gamma-Glutamyl Transferase', '2324-2', 'U/L', [6, 65, 0, upTo]],
  ['Bilirubin, Total', '1975-2', 'mg/dL', [0.2, 1.2, 1, upTo]],
  ['Bilirubin, Direct', '1968-7', 'mg/dL', [0.05, 0.4, 2, upTo]],
  ['Protein, Total', '2885-2', 'g/dL', [6, 8.5, 1]],
  ['Albumin', '1751-7', 'g/dL', [3.8, 4.9, 1]],
  ['Creatinine', '2160-0', 'mg/dL', [0.57, 1.27, 2]],
  ['Urea Nitrogen', '3094-0', 'mg/dL', [6, 24, 0]],
  ['Sodium', '2951-2', 'mmol/L', [134, 144, 0, { critical: 118 }]],
  ['Potassium', '2823-3', 'mmol/L', [3.5, 5.2, 1, { critical: 6.9 }]],
  ['Chloride', '2075-0', 'mmol/L', [96, 106, 0]],
  ['Carbon Dioxide', '2028-9', 'mmol/L', [20, 29, 0]],
  ['Calcium', '17861-6', 'mg/dL', [8.7, 10.2, 1, { critical: 13.4 }]],
  ['Magnesium', '19123-9', 'mg/dL', [1.6, 2.3, 1]],
  ['Phosphate', '2777-1', 'mg/dL', [2.5, 4.5, 1]],
  ['Uric Acid', '3084-1', 'mg/dL', [3, 7.8, 1]],
  ['Testosterone, Total', '2986-8', 'ng/dL', [264, 916, 0]],
  ['Estradiol', '2243-4', 'pg/mL', [7.6, 42.6, 1]],
  ['Follicle Stimulating Hormone', '15067-2', 'm[IU]/mL', [1.5, 12.4, 1]],
  ['Luteinizing Hormone', '10501-5', 'm[IU]/mL', [1.7, 8.6, 1]],
  ['Prolactin', '2842-3', 'ng/mL', [4, 15.2, 1]],
  ['Cortisol', '2143-6', 'ug/dL', [6.2, 19.4, 1]],
  ['DHEA Sulfate', '2191-5', 'ug/dL', [71, 375, 0]],
  ['Insulin', '20448-7', 'u[IU]/mL', [2.6, 24.9, 1]],
];

/** Ranges that differ for women (cycling hormones: the follicular phase). */
const rangesOfWomen: Readonly<Record<string, RangeRow>> = {
  '718-7': [11.1, 15.9, 1, { critical: 6.1 }],
  '4544-3': [34, 46.6, 1],
  '789-8': [3.77, 5.28, 2],
  '2276-4': [15, 150, 0],
  '2986-8': [8, 60, 0],
  '2243-4': [12.5, 166, 1],
  '15067-2': [3.5, 12.5, 1],
  '10501-5': [2.4, 12.6, 1],
  '2842-3': [4.8, 23.3, 1],
  '2191-5': [57, 280, 0],
};

/** A thing that a lab states in words or as a bound, with the answer that is expected and one that is not. */
export interface Finding {
  readonly type: 'range' | 'comment' | 'coded_value';
  readonly expected: string;
  readonly unexpected: string;
  /** As the lab prints it; null where nothing is expected. */
  readonly range: string | null;
}

/** Findings with their LOINC codes: name, code, unit. */
export const findings: readonly (readonly [name: string, loinc: string, unit: string | null, Finding])[] = [
  [
    'Urine Protein',
    '20454-5',
    null,
    { type: 'coded_value', expected: 'Negative', unexpected: '1+', range: 'Negative' },
  ],
  [
    'Urine Nitrite',
    '5802-4',
    null,
    { type: 'coded_value', expected: 'Negative', unexpected: 'Positive', range: 'Negative' },
  ],
  [
    'Urine Color',
    '5778-6',
    null,
    { type: 'coded_value', expected: 'Yellow', unexpected: 'Amber', range: null },
  ],
  [
    'Glomerular Filtration Rate, Estimated',
    '98979-8',
    'mL/min/{1.73_m2}',
    { type: 'range', expected: '>90', unexpected: '<60', range: '>59' },
  ],
  [
    'Remark',
    '8251-1',
    null,
    {
      type: 'comment',
      expected: 'No cells were seen under the microscope.',
      unexpected: 'A few red cells were seen under the microscope.',
      range: null,
    },
  ],
];

const findingsByCode = new Map(findings.map(([, loinc, , finding]) => [loinc, finding]));

/** The finding with this LOINC code; undefined for a biomarker that is a number. */
export function findingOf(loinc: string): Finding | undefined {
  return findingsByCode.get(loinc);
}

const rangesOfAll = new Map(biomarkers.map(([, loinc, , range]) => [loinc, range]));

/** The range of the biomarker with this LOINC code. */
export function rangeOf(loinc: string, gender: string): Range {
  const row = (gender === 'female' ? rangesOfWomen[loinc] : undefined) ?? rangesOfAll.get(loinc) ?? [0, 1, 1];
  const [low, high, decimals, more] = row;
  return { low, high, decimals, printed: 'both', ...more };
}
