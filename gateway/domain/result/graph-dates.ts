import type { builder } from '../../graph/builder.ts';
import type { WrittenDate } from './rest.ts';

type Fields<Parent> = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Parent>;

/** The dates of a sample, which labs write as text. */
interface SampleDates {
  readonly collected: WrittenDate;
  readonly received: WrittenDate;
  readonly reported: WrittenDate;
}

/** Fields for the dates of a sample: an instant, a day and the text of each. */
export function sampleDateFields<Parent extends SampleDates>(t: Fields<Parent>) {
  const taken = dateFields(t, 'When the sample was taken', ({ collected }: Parent) => collected);
  const received = dateFields(t, 'When the lab received it', (parent: Parent) => parent.received);
  return {
    collectedAt: taken.at,
    collectedOn: taken.on,
    collectedAtRaw: taken.raw,
    receivedAt: received.at,
    receivedOn: received.on,
    receivedAtRaw: received.raw,
    ...reportDateFields(t, 'When the lab reported'),
  };
}

/** The same for a type with only the date of its report. */
export function reportDateFields<Parent extends Pick<SampleDates, 'reported'>>(
  t: Fields<Parent>,
  what: string,
) {
  const { at, on, raw } = dateFields(t, what, ({ reported }: Parent) => reported);
  return { reportedAt: at, reportedOn: on, reportedAtRaw: raw };
}

function dateFields<Parent>(t: Fields<Parent>, what: string, read: (parent: Parent) => WrittenDate) {
  return {
    at: t.field({
      type: 'DateTime',
      description: `${what}; null unless the service sent an ISO 8601 date with a time.`,
      resolve: (parent) => read(parent).at,
    }),
    on: t.field({
      type: 'Date',
      description: `${what}, as a day; null unless the service sent an ISO 8601 date, with or without a time.`,
      resolve: (parent) => read(parent).on,
    }),
    raw: t.string({
      description: `${what}, as the service sent it.`,
      resolve: (parent) => read(parent).raw,
    }),
  };
}
