import { appointmentRows } from './appointment-rows.ts';
import { placingRows } from './order-rows.ts';
import { otherRows } from './other-rows.ts';
import type { Row } from './row.ts';
import { upkeepRows } from './upkeep-rows.ts';
import { userRows } from './user-rows.ts';

/** Every mutation, with everything that may come of it. */
export const rows: readonly Row[] = [
  ...placingRows,
  ...upkeepRows,
  ...appointmentRows,
  ...userRows,
  ...otherRows,
];

/** The row of this mutation. */
export function rowOf(mutation: string): Row {
  const row = rows.find((each) => each.mutation === mutation);
  if (row === undefined) throw new Error(`The table has no ${mutation}.`);
  return row;
}

/** The call that does it. */
export function callOf({ asks }: Row): RegExp {
  if (asks === null) throw new Error('This mutation asks the service nothing.');
  return asks.call;
}
