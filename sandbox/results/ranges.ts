/**
 * Where the values of healthy adults lie: lowest, highest, decimals, which of the two a lab prints, and a value
 * that would need attention at once. Adult ranges of common textbooks, rounded; good for a demo, not for care.
 */
export interface Range {
  readonly low: number;
  readonly high: number;
  readonly decimals: number;
  readonly printed: 'both' | 'low' | 'high';
  readonly critical?: number;
}

type Row = readonly [low: number, high: number, decimals: number, more?: Partial<Range>];

const upTo = { printed: 'high' } as const;
const atLeast = { printed: 'low' } as const;

const rows: Readonly<Record<string, Row>> = {
  '2345-7': [70, 99, 0, { critical: 486 }],
  '4548-4': [4.2, 5.6, 1, upTo],
  '2093-3': [130, 199, 0, upTo],
  '2085-9': [40, 85, 0, atLeast],
  '13457-7': [45, 99, 0, upTo],
  '2571-8': [50, 149, 0, upTo],
  '9830-1': [2.1, 4.9, 1, upTo],
  '13458-5': [5, 40, 0],
  '30522-7': [0.2, 2.9, 1, upTo],
  '1988-5': [1, 9, 0, upTo],
  '3016-3': [0.45, 4.5, 2],
  '3024-7': [0.82, 1.77, 2],
  '3051-0': [2, 4.4, 1],
  '1989-3': [30, 100, 1],
  '2132-9': [232, 1245, 0],
  '2284-8': [3.1, 19, 1, atLeast],
  '2276-4': [30, 300, 0],
  '2498-4': [38, 169, 0],
  '2500-7': [250, 450, 0],
  '2502-3': [15, 55, 0],
  '718-7': [13, 17.7, 1, { critical: 6.1 }],
  '4544-3': [37.5, 51, 1],
  '6690-2': [3.4, 10.8, 1],
  '789-8': [4.14, 5.8, 2],
  '777-3': [150, 450, 0, { critical: 18 }],
  '787-2': [79, 97, 0],
  '785-6': [26.6, 33, 1],
  '786-4': [31.5, 35.7, 1],
  '788-0': [11.6, 15.4, 1],
  '770-8': [40, 70, 0],
  '736-9': [20, 45, 0],
  '5905-5': [4, 12, 0],
  '713-8': [0, 5, 0, upTo],
  '706-2': [0, 1, 0, upTo],
  '1742-6': [8, 44, 0, upTo],
  '1920-8': [10, 40, 0, upTo],
  '6768-6': [44, 121, 0],
  '2324-2': [6, 65, 0, upTo],
  '1975-2': [0.2, 1.2, 1, upTo],
  '1968-7': [0.05, 0.4, 2, upTo],
  '2885-2': [6, 8.5, 1],
  '1751-7': [3.8, 4.9, 1],
  '2160-0': [0.57, 1.27, 2],
  '3094-0': [6, 24, 0],
  '2951-2': [134, 144, 0, { critical: 118 }],
  '2823-3': [3.5, 5.2, 1, { critical: 6.9 }],
  '2075-0': [96, 106, 0],
  '2028-9': [20, 29, 0],
  '17861-6': [8.7, 10.2, 1, { critical: 13.4 }],
  '19123-9': [1.6, 2.3, 1],
  '2777-1': [2.5, 4.5, 1],
  '3084-1': [3, 7.8, 1],
  '2986-8': [264, 916, 0],
  '2243-4': [7.6, 42.6, 1],
  '15067-2': [1.5, 12.4, 1],
  '10501-5': [1.7, 8.6, 1],
  '2842-3': [4, 15.2, 1],
  '2143-6': [6.2, 19.4, 1],
  '2191-5': [71, 375, 0],
  '20448-7': [2.6, 24.9, 1],
};

/** Hormones and blood cells of women lie elsewhere (cycling hormones: the follicular phase). */
const rowsOfWomen: Readonly<Record<string, Row>> = {
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

/** The range of the biomarker with this LOINC code. */
export function rangeOf(loinc: string, gender: string): Range {
  const row = (gender === 'female' ? rowsOfWomen[loinc] : undefined) ?? rows[loinc] ?? [0, 1, 1];
  const [low, high, decimals, more] = row;
  return { low, high, decimals, printed: 'both', ...more };
}

/** The range as a lab prints it: `70-99`, `<200` or `>39`, in the decimals of its values. */
export function printRange({ low, high, decimals, printed }: Range): string {
  const step = 1 / 10 ** decimals;
  if (printed === 'high') return `<${(high + step).toFixed(decimals)}`;
  if (printed === 'low') return `>${(low - step).toFixed(decimals)}`;
  return `${low.toFixed(decimals)}-${high.toFixed(decimals)}`;
}
