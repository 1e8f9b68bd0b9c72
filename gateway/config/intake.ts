import type { Reading } from './reading.ts';

/** Where events come from besides webhooks. */
export interface IntakeConfig {
  readonly rabbitmq: RabbitConfig | null;
}

export interface RabbitConfig {
  /** With user and password. */
  readonly url: string;
  readonly queue: string;
  /** Messages in hand at most. */
  readonly prefetch: number;
}

/** Null where webhooks are the only route. */
export function readIntake(reading: Reading): IntakeConfig | null {
  const rabbitmq = readRabbit(reading);
  return rabbitmq === null ? null : { rabbitmq };
}

function readRabbit(reading: Reading): RabbitConfig | null {
  const url = reading.secret('INTAKE_RABBITMQ_URL');
  const queue = reading.text('INTAKE_RABBITMQ_QUEUE');
  const prefetch = reading.integer('INTAKE_RABBITMQ_PREFETCH', 200, { min: 1, max: 1000 });
  if (url === null && queue === null) return null;
  if (url === null) reading.fault('INTAKE_RABBITMQ_QUEUE needs INTAKE_RABBITMQ_URL.');
  else if (!URL.canParse(url) || !/^amqps?:$/.test(new URL(url).protocol))
    reading.fault('INTAKE_RABBITMQ_URL must be amqp://user:password@host:port/vhost, or amqps://.');
  if (queue === null) reading.fault('INTAKE_RABBITMQ_URL needs INTAKE_RABBITMQ_QUEUE.');
  return { url: url ?? '', queue: queue ?? '', prefetch };
}
