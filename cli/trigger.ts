import type { Command, Session } from '../gateway/commands/program.ts';
import { GatewayError } from '../gateway/errors.ts';
import { readText } from './reach.ts';

const answerTimeoutMs = 15_000;

/** Lets a sandbox send an event, with data as the service would send it. */
export const trigger: Command<null> = {
  usage: '<event> [--set <path=value>]... [--user <id>] [--order <id>]',
  summary:
    'lets the sandbox send an event of any type; --set notes=text replaces a field; a value is JSON where it can be, else text',
  options: {
    sandbox: { type: 'string' },
    'sandbox-key-file': { type: 'string' },
    set: { type: 'string', multiple: true },
    user: { type: 'string' },
    order: { type: 'string' },
  },
  examples: [
    'labtest.order.updated --sandbox http://127.0.0.1:4010 --sandbox-key-file sandbox.key',
    'labtest.order.updated --set notes=Later --set details.count=2',
  ],
  run: async (session) => {
    const { words, options, print, report } = session;
    const [eventType] = words;
    if (eventType === undefined || words.length > 1)
      throw new GatewayError('BAD_USER_INPUT', 'Name one event, such as labtest.order.updated.');
    const sets = Array.isArray(options.set) ? options.set.map(String) : [];
    const body = {
      event_type: eventType,
      ...(options.user === undefined ? {} : { user_id: options.user }),
      ...(options.order === undefined ? {} : { order_id: options.order }),
      ...(sets.length === 0 ? {} : { data: readFields(sets) }),
    };
    const response = await postEvent(session, body);
    if (!response?.ok) {
      report(response === null ? explainSilence(session) : explainStatus(response.status));
      return false;
    }
    await print(await response.json());
    return true;
  },
};

/** @returns null when the sandbox does not answer */
async function postEvent(session: Session<null>, body: object): Promise<Response | null> {
  const { settings, options } = session;
  const { env } = settings;
  const base = addressOf(session);
  const file = options['sandbox-key-file'];
  const key = typeof file === 'string' ? await readText(file) : env.SANDBOX_API_KEY;
  if (!key || !URL.canParse(base)) {
    throw new GatewayError('BAD_USER_INPUT', 'Set LABGRAPH_SANDBOX_URL and SANDBOX_API_KEY, or see --help.');
  }
  try {
    return await fetch(new URL('/sandbox/events', base), {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', 'x-service-api-key': key },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(answerTimeoutMs),
    });
  } catch {
    return null;
  }
}

function addressOf({ settings, options }: Session<null>): string {
  return String(options.sandbox ?? settings.env.LABGRAPH_SANDBOX_URL ?? 'http://127.0.0.1:4010');
}

function explainSilence(session: Session<null>): string {
  return `The sandbox does not answer at ${new URL(addressOf(session)).href}. Check LABGRAPH_SANDBOX_URL or --sandbox.`;
}

function explainStatus(status: number): string {
  if (status === 401 || status === 403) return 'The sandbox refuses the key.';
  if (status === 404) return 'This is no sandbox, or it does not know the user or the order.';
  if (status === 422) return 'The sandbox does not accept the arguments: --user and --order take ids.';
  return `The sandbox answered ${status}.`;
}

/** `a.b=1` is `{ a: { b: 1 } }`. @throws GatewayError BAD_USER_INPUT for anything else */
function readFields(sets: readonly string[]): Readonly<Record<string, unknown>> {
  const fields = new Map<string, unknown>();
  for (const set of sets) {
    const at = set.indexOf('=');
    const path = set.slice(0, Math.max(at, 0)).split('.');
    if (path.includes('')) throw new GatewayError('BAD_USER_INPUT', '--set takes path=value.');
    place(fields, path, readValue(set.slice(at + 1)));
  }
  return toObject(fields);
}

function place(fields: Map<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    fields.set(name, value);
    return;
  }
  const known = fields.get(name);
  const inner = known instanceof Map ? known : new Map<string, unknown>();
  fields.set(name, inner);
  place(inner, rest, value);
}

function toObject(fields: ReadonlyMap<string, unknown>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...fields].map(([name, value]) => [name, value instanceof Map ? toObject(value) : value]),
  );
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
