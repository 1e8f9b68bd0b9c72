import { z } from 'zod';

const destination = z.enum(['cloud_pubsub', 'rabbitmq', 'svix', 'azure_amqp']);
const blobStorage = z.object({ connection_string: z.string(), container_name: z.string() });

/** Where the events of a team go, as it is sent and shown (public service: ClientFacingETLPipeline). */
export const pipelineBody = z.object({
  push_historical_data: z.boolean().nullish(),
  provider_raw_data: z.boolean().nullish(),
  preferences: z.object({ preferred: destination, enabled: z.array(destination).min(1) }).nullish(),
  cloud_pubsub: z.object({ project: z.string(), topic: z.string(), message_ordering: z.boolean() }).nullish(),
  rabbitmq: z.object({ uri: z.string(), exchange: z.string() }).nullish(),
  svix: z.object({ regional: z.literal(true).default(true) }).nullish(),
  azure_amqp: z
    .object({
      connection_string: z.string(),
      default_event_hub: z.string(),
      event_hub_matchers: z
        .array(
          z.object({
            event_type_prefix: z.string().nullish(),
            event_type_regex: z.string().nullish(),
            event_hub: z.string().nullish(),
            blob_storage: blobStorage.nullish(),
          }),
        )
        .optional(),
      compression: z.enum(['always', 'auto']).default('auto'),
    })
    .nullish(),
  event_type_prefixes: z.array(z.string()).optional(),
});

type PipelineBody = z.output<typeof pipelineBody>;
type Given = NonNullable<PipelineBody['preferences']>;

/** The settings of a pipeline. */
export interface PipelineSettings extends Omit<PipelineBody, 'preferences'> {
  readonly preferences: Given;
}

/** The settings after a change: null and what is left out change nothing. Null where there are no preferences yet. */
export function patchPipeline(before: PipelineSettings | null, body: PipelineBody): PipelineSettings | null {
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value != null));
  const preferences = body.preferences ?? before?.preferences;
  return preferences ? { ...before, ...given, preferences } : null;
}

/** What is wrong with the settings as a whole; null when nothing is. */
export function findPipelineFault(settings: PipelineSettings): string | null {
  const { preferred, enabled } = settings.preferences;
  if (!enabled.includes(preferred)) return 'The preferred destination is not enabled.';
  const missing = enabled.find((name) => name !== 'svix' && !settings[name]);
  return missing === undefined ? null : `The enabled destination ${missing} has no attributes.`;
}
