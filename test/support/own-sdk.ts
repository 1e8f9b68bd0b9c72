import process from 'node:process';
import { trace } from '@opentelemetry/api';
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';

/** The SDK of a team, for Node's `--import`: it prints the name of each span. */
const printer = {
  onStart: () => {},
  onEnd: ({ name }: ReadableSpan) => void process.stdout.write(`own span: ${name}\n`),
  forceFlush: async () => {},
  shutdown: async () => {},
};
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [printer] }));
