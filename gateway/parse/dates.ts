/**
 * The only place that parses text as a date (decision 0088). `Date.parse` guesses: it reads "Not given 12" as a day
 * of 2001, "03/04/2026" as 4 March, and times without an offset in the host's time zone.
 */

/** RFC 3339's profile of ISO 8601, plus forms that Python and JavaScript write: no seconds, no offset or a short one. */
const instantForm =
  /^(\d{4}-\d{2}-\d{2})[T ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:[.,](\d+))?)?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/i;
/** How the service writes nearly all of them: Date.parse alone reads it exactly. Leap days and the last years are left to the other form. */
const usualForm =
  /^[1-8]\d{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const dayForm = /^\d{4}-\d{2}-\d{2}$/;
const httpForm =
  /^[A-Z][a-z]{2}, (\d{2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT$/;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The instant of an ISO 8601 date with a time; a time without an offset is UTC. Null for anything else, also for a day alone. */
export function parseInstant(text: string): Date | null {
  // An order has some eight: this way one takes 0.2 us and makes no garbage, the other 0.7 us.
  if (usualForm.test(text)) return new Date(text);
  const [, day = '', minute = '', second = '00', fraction = '', offset = 'Z'] = instantForm.exec(text) ?? [];
  if (!isDayOfCalendar(day)) return null;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  // ECMAScript's own date-time format, for which Date.parse is exact.
  const date = new Date(Date.parse(`${day}T${minute}:${second}.${milliseconds}${toFullOffset(offset)}`));
  // An offset can move the instant beyond four-digit years, which RFC 3339 cannot express.
  return date.getUTCFullYear() >= 0 && date.getUTCFullYear() <= 9999 ? date : null;
}

function toFullOffset(offset: string): string {
  if (offset.length === 1) return 'Z';
  return `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`;
}

/** A calendar day as `YYYY-MM-DD`; for an instant, the day as written, in the instant's own offset. */
export function parseDay(text: string): string | null {
  if (dayForm.test(text)) return isDayOfCalendar(text) ? text : null;
  return parseInstant(text) === null ? null : text.slice(0, 10);
}

/** Whether the day exists: `2026-02-30` does not. Computed here, because Date would roll it over into March. */
function isDayOfCalendar(day: string): boolean {
  const [month, date] = [Number(day.slice(5, 7)), Number(day.slice(8))];
  return month >= 1 && month <= 12 && date >= 1 && date <= daysOf(Number(day.slice(0, 4)), month);
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** The day (UTC) of a Date, as `YYYY-MM-DD`. */
export function toDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Midnight (UTC) of a day `YYYY-MM-DD`. @throws RangeError for anything but a calendar day */
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
