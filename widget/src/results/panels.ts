import type { Biomarker } from './results.ts';

/** The results of one ordered panel; `name` is null for those that were ordered by themselves. */
export interface Panel {
  readonly name: string | null;
  readonly biomarkers: readonly Biomarker[];
}

/** The results by panel: panels in the order in which the lab lists them, and what belongs to none at the end. */
export function groupByPanel(biomarkers: readonly Biomarker[]): readonly Panel[] {
  const groups = new Map<string | null, Biomarker[]>();
  for (const each of biomarkers) {
    const members = groups.get(each.panel) ?? [];
    members.push(each);
    groups.set(each.panel, members);
  }
  return [...groups]
    .map(([name, members]) => ({ name, biomarkers: members }))
    .toSorted((one, other) => Number(one.name === null) - Number(other.name === null));
}
