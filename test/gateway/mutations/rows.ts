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
