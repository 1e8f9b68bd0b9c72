import {
  Counter,
  type CounterConfiguration,
  Histogram,
  type HistogramConfiguration,
  type LabelValues,
  type MetricValueWithName,
} from 'prom-client';

type Labels<Name extends string> = LabelValues<Name>;

/** Rows by the values of their labels, in the order of the names. */
class Rows<Name extends string, Row> {
  readonly #names: readonly Name[];
  readonly #create: (labels: Labels<Name>) => Row;
  readonly #rows = new Map<string, Row>();

  constructor(names: readonly Name[], create: (labels: Labels<Name>) => Row) {
    this.#names = names;
    this.#create = create;
    // A metric without labels is shown before its first value.
    if (names.length === 0) this.of({});
  }

  of(labels: Labels<Name>): Row {
    let key = '';
    for (const name of this.#names) key += `${labels[name]}\n`;
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const row = this.#create(labels);
    this.#rows.set(key, row);
    return row;
  }

  all(): readonly Row[] {
    return [...this.#rows.values()];
  }
}

/**
 * A counter for the path of every request: it adds plain numbers, and gives them to prom-client when it is scraped.
 * prom-client itself sorts, joins and validates the labels each time, which costs twice as much.
 */
export class PlainCounter<Name extends string = string> {
  readonly #rows: Rows<Name, { readonly labels: Labels<Name>; value: number }>;

  constructor(configuration: CounterConfiguration<Name>) {
    const rows = new Rows<Name, { readonly labels: Labels<Name>; value: number }>(
      configuration.labelNames ?? [],
      (labels) => ({ labels, value: 0 }),
    );
    this.#rows = rows;
    new Counter<Name>({
      ...configuration,
      collect() {
        this.reset();
        for (const { labels, value } of rows.all()) this.inc(labels, value);
      },
    });
  }

  inc(labels: Labels<Name>, value = 1): void {
    this.#rows.of(labels).value += value;
  }
}

interface Observed<Name extends string> {
  readonly labels: Labels<Name>;
  /** How many values were in each bucket, the last one without an upper bound. */
  readonly counts: number[];
  sum: number;
}

type Values<Name extends string> = readonly MetricValueWithName<Name>[];

/** A histogram in the way of `PlainCounter`. */
export class PlainHistogram<Name extends string = string> {
  readonly #bounds: readonly number[];
  readonly #rows: Rows<Name, Observed<Name>>;

  constructor(configuration: HistogramConfiguration<Name> & { readonly buckets: number[] }) {
    const { name, labelNames = [], buckets: bounds } = configuration;
    this.#bounds = bounds;
    this.#rows = new Rows(labelNames, (labels) => ({
      labels,
      counts: Array.from({ length: bounds.length + 1 }, () => 0),
      sum: 0,
    }));
    new ShownHistogram<Name>(configuration, () =>
      this.#rows.all().flatMap((row) => describe(row, { name, bounds })),
    );
  }

  observe(labels: Labels<Name>, value: number): void {
    const row = this.#rows.of(labels);
    let bucket = 0;
    for (const bound of this.#bounds) {
      if (value <= bound) break;
      bucket += 1;
    }
    row.counts[bucket] = (row.counts[bucket] ?? 0) + 1;
    row.sum += value;
  }
}

/** prom-client has no way to set the buckets of a histogram, so this one gives the registry its values itself. */
class ShownHistogram<Name extends string> extends Histogram<Name> {
  readonly #described: { readonly name: string; readonly help: string };
  readonly #values: () => Values<Name>;

  constructor(configuration: HistogramConfiguration<Name>, values: () => Values<Name>) {
    super(configuration);
    this.#described = { name: configuration.name, help: configuration.help };
    this.#values = values;
  }

  /** Called by the registry, and by `get` of prom-client. */
  async getForPromString() {
    return { ...this.#described, type: 'histogram', aggregator: 'sum', values: this.#values() };
  }
}

interface Shown {
  readonly name: string;
  readonly bounds: readonly number[];
}

function describe<Name extends string>(
  { labels, counts, sum }: Observed<Name>,
  { name, bounds }: Shown,
): Values<Name> {
  let count = 0;
  const buckets = [...bounds, '+Inf'].map((le, index) => {
    count += counts[index] ?? 0;
    return { labels: { ...labels, le }, value: count, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ];
}
