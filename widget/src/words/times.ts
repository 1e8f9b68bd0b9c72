import { inLanguage } from './language.ts';

type Time = string | number | null | undefined;

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** After so many days the date says more than the age. */
const MOST_DAYS = 14;

/** A time in the language's format, with the date unless it is today; empty if it is not a time. */
export function formatTime(time: Time, language: string): string {
  const date = toDate(time);
  if (Number.isNaN(+date)) return '';
  const isToday = date.toDateString() === new Date().toDateString();
  const form = { dateStyle: isToday ? undefined : 'medium', timeStyle: 'short' } as const;
  return inLanguage(language, (locales) => date.toLocaleString(locales, form));
}

/**
 * How long ago a time is: "2 hours ago". Long ago, or ahead of the clock of this device, it is written by
 * {@link formatTime}.
 */
export function formatAge(time: Time, language: string): string {
  const date = toDate(time);
  const minutes = Math.floor((Date.now() - +date) / MINUTE_MS);
  if (!(minutes >= -1 && minutes < MOST_DAYS * DAY_MINUTES)) return formatTime(time, language);
  const [count, unit] = readAge(minutes, date);
  return inLanguage(language, (locales) =>
    new Intl.RelativeTimeFormat(locales, { numeric: 'auto' }).format(-count, unit),
  );
}

function readAge(minutes: number, date: Date): readonly [number, Intl.RelativeTimeFormatUnit] {
  if (minutes < 1) return [0, 'second'];
  if (minutes < 60) return [minutes, 'minute'];
  if (minutes < DAY_MINUTES) return [Math.floor(minutes / 60), 'hour'];
  // By the calendar: "yesterday" is the day before, and not any 24 hours.
  const days = (startOfDay(new Date()) - startOfDay(date)) / (DAY_MINUTES * MINUTE_MS);
  return [Math.round(days), 'day'];
}

function startOfDay(date: Date): number {
  return new Date(date).setHours(0, 0, 0, 0);
}

function toDate(time: Time): Date {
  return new Date(time ?? Number.NaN);
}
