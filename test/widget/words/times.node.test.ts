import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { formatAge, formatTime } from '../../../widget/src/words/times.ts';
import { speakAtHome } from '../support/browser-language.ts';

const NOW = new Date(2026, 10, 22, 15, 0);

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** So many minutes before now. */
const ago = (minutes: number) => NOW.getTime() - minutes * 60_000;
const HOUR = 60;
const DAY = 24 * HOUR;

describe('the age of a status', () => {
  test.each([
    [0, 'now'],
    [0.9, 'now'],
    [1, '1 minute ago'],
    [59, '59 minutes ago'],
    [2 * HOUR, '2 hours ago'],
    [23.9 * HOUR, '23 hours ago'],
    [DAY, 'yesterday'],
    [38 * HOUR, 'yesterday'],
    [40 * HOUR, '2 days ago'],
    [13 * DAY, '13 days ago'],
  ])('after %d minutes reads: %s', (minutes, text) => {
    expect(formatAge(ago(minutes), 'en')).toBe(text);
  });

  test.each([
    ['en', '2 hours ago'],
    ['es', 'hace 2 horas'],
    ['fr', 'il y a 2 heures'],
    ['de', 'vor 2 Stunden'],
    ['pt', 'há 2 horas'],
    ['ar', 'قبل ساعتين'],
  ])('is in the language of the page: %s', (language, text) => {
    expect(formatAge(ago(2 * HOUR), language)).toBe(text);
  });

  test('is the date where it is long ago', () => {
    expect(formatAge(ago(14 * DAY), 'en')).toMatch(/^Nov 8, 2026, 3:00.PM$/);
  });

  test('is the time itself where it is ahead of the clock of this device', () => {
    expect(formatAge(ago(-DAY), 'en')).toBe(formatTime(ago(-DAY), 'en'));
    expect(formatAge(ago(-DAY), 'en')).toContain('Nov 23, 2026');
  });

  test.each([null, undefined, 'soon', Number.NaN])('is empty where there is no time: %s', (time) => {
    expect([formatAge(time, 'en'), formatTime(time, 'en')]).toEqual(['', '']);
  });

  test.each([
    ['', '2 hours ago'],
    ['!', '2 hours ago'],
    ['en_US', '2 hours ago'],
    ['de_AT', 'vor 2 Stunden'],
    ['de_DE.UTF-8', 'vor 2 Stunden'],
    ['qx', '2 hours ago'],
  ])(
    'is in the language of the texts, also where that is no tag, and never in the browser’s: %j',
    (language, text) => {
      using _browser = speakAtHome('fr');

      expect(formatAge(ago(2 * HOUR), language)).toBe(text);
    },
  );

  test('and a date is so, too', () => {
    using _browser = speakAtHome('fr');

    expect(formatTime(ago(20 * DAY), '')).toContain('Nov 2, 2026');
    expect(formatTime(ago(20 * DAY), 'es_MX')).toContain('2 nov 2026');
  });
});
