/**
 * The only place where text becomes a date (decision 0088). `Date.parse` guesses: it takes "Not given 12" for a day
 * of 2001, "03/04/2026" for the 4th of March, and reads times without an offset by the clock of the host.
 */

/** RFC 3339's profile of ISO 8601, with what Python and JavaScript write besides: no seconds, no or short offset. */
const instantForm =
  /^(\d{4}-\d{2}-\d{2})[T ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:[.,](\d+))?)?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/i;
const dayForm = /^\d{4}-\d{2}-\d{2}$/;
const httpForm =
  /^[A-Z][a-z]{2}, (\d{2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT$/;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The instant of an ISO 8601 date with a time; one without an offset is UTC. Null for anything else, a bare day too. */
export function parseInstant(text: string): Date | null {
  const [, day = '', minute = '', second = '00', fraction = '', offset = 'Z'] = instantForm.exec(text) ?? [];
  if (!isDayOfCalendar(day)) return null;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  // ECMAScript's own date-time format, for which Date.parse is exact.
  const date = new Date(Date.parse(`${day}T${minute}:${second}.${milliseconds}${toFullOffset(offset)}`));
  // An offset can lead out of the four-digit years, which RFC 3339 cannot write.
  return date.getUTCFullYear() >= 0 && date.getUTCFullYear() <= 9999 ? date : null;
}

function toFullOffset(offset: string): string {
  if (offset.length === 1) return 'Z';
  return `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`;
}

/** A day of the calendar as `YYYY-MM-DD`; that of an instant is the day as written, at the instant's own offset. */
export function parseDay(text: string): string | null {
  if (dayForm.test(text)) return isDayOfCalendar(text) ? text : null;
  return parseInstant(text) === null ? null : text.slice(0, 10);
}

/** `2026-02-30` is none. Counted, because Date would roll it over into March. */
function isDayOfCalendar(day: string): boolean {
  const [month, date] = [Number(day.slice(5, 7)), Number(day.slice(8))];
  return month >= 1 && month <= 12 && date >= 1 && date <= daysOf(Number(day.slice(0, 4)), month);
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Midnight (UTC) of a day `YYYY-MM-DD`. @throws RangeError for what is no day of the calendar */
export function startOfDay(day: string): Date {
  const start = dayForm.test(day) ? parseInstant(`${day}T00:00Z`) : null;
  if (start === null) throw new RangeError('That is no day of the calendar.');
  return start;
}

/** The instant of an HTTP header such as `Retry-After` (RFC 9110, IMF-fixdate), or null. */
export function parseHttpDate(text: string): Date | null {
  const [, date = '', month = '', year = '', time = ''] = httpForm.exec(text) ?? [];
  const monthNumber = String(months.indexOf(month) + 1).padStart(2, '0');
  return parseInstant(`${year}-${monthNumber}-${date}T${time}Z`);
}
