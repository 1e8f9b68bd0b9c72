import type { Reading } from './reading.ts';

export interface TracingConfig {
  /** The share of new traces that are recorded. */
  readonly sampledShare: number;
}

/** Null = no tracing. OpenTelemetry's SDK reads the address itself. */
export function readTracing(reading: Reading): TracingConfig | null {
  if (reading.address('OTEL_EXPORTER_OTLP_ENDPOINT') === null) return null;
  const sampledShare = Number(reading.text('OTEL_TRACES_SAMPLER_ARG') ?? 1);
  if (!(sampledShare >= 0 && sampledShare <= 1))
    reading.fault('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.');
  return { sampledShare };
}
