import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { GatewayError } from '../errors.ts';
import { isOrigin } from '../parse/origin.ts';

/** Secrets that are generated once for a gateway without configured ones; see `generated-secrets.ts`. */
export const generatedSecretsShape = z.object({
  serviceApiKey: z.string().min(1),
  webhookSecret: z.string().min(1),
  gatewayApiKey: z.string().min(1),
  viewerTokenSecret: z.string().min(32),
});
export type GeneratedSecrets = Readonly<z.infer<typeof generatedSecretsShape>>;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads variables of the environment, and collects values and faults, so that one start names everything that is wrong.
 */
export class Reading {
  readonly production: boolean;
  readonly generated: string[] = [];
  readonly #env: Environment;
  readonly #loadSecrets: () => GeneratedSecrets;
  readonly #faults: string[] = [];
  #secrets: GeneratedSecrets | null = null;

  constructor(env: Environment, loadSecrets: () => GeneratedSecrets) {
    this.#env = env;
    this.#loadSecrets = loadSecrets;
    this.production = this.text('NODE_ENV') === 'production';
  }

  /** @param sentence begins with the name of the variable, and never says its value */
  fault(sentence: string): void {
    this.#faults.push(sentence);
  }

  hasFault(name: string): boolean {
    return this.#faults.some((fault) => fault.startsWith(`${name} `));
  }

  throwFaults(): void {
    if (this.#faults.length === 0) return;
    throw new GatewayError('CONFIG_INVALID', this.#faults.map((fault) => `- ${fault}`).join('\n'));
  }

  /** A variable's text; empty counts as absent. */
  text(name: string): string | null {
    const value = this.#env[name]?.trim();
    return value ? value : null;
  }

  /** A secret from NAME, or from the file that NAME_FILE names. */
  secret(name: string): string | null {
    const path = this.text(`${name}_FILE`);
    if (path === null) return this.text(name);
    try {
      const secret = readFileSync(path, 'utf8').trim();
      if (secret === '') this.fault(`${name}_FILE names an empty file.`);
      return secret || null;
    } catch {
      this.fault(`${name}_FILE names a file that cannot be read.`);
      return null;
    }
  }

  /** A list of keys of 32 bytes, in base64. */
  keys(name: string): readonly Buffer[] {
    const keys = this.list(this.secret(name)).map((key) => Buffer.from(key, 'base64'));
    if (keys.some((key) => key.length !== 32)) this.fault(`${name} must be base64 of exactly 32 bytes.`);
    return keys;
  }

  /** Reports a key that no request can carry, such as one with a line break. */
  refuseUnsendable(name: string, key: string): void {
    if (/^[\x21-\x7e]*$/.test(key)) return;
    this.fault(`${name} must have visible ASCII characters only, because a key is sent in a header.`);
  }

  /** The items of a list, separated by commas or line breaks. */
  list(value: string | null): readonly string[] {
    return (value ?? '')
      .split(/[,\n]/)
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }

  integer(name: string, fallback: number, range: { readonly min: number; readonly max: number }): number {
    const text = this.text(name);
    if (text === null) return fallback;
    const parsed = z.coerce.number().int().min(range.min).max(range.max).safeParse(text);
    if (parsed.success) return parsed.data;
    this.fault(`${name} must be a whole number from ${range.min} to ${range.max}.`);
    return fallback;
  }

  /** An http or https address without slashes at its end. A faulty one is returned: its fault is reported. */
  address(name: string): string | null {
    const text = this.text(name);
    if (text === null) return null;
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol))
      this.fault(`${name} must be an http or https address.`);
    else if (url.username !== '' || url.password !== '' || /[?#]/.test(text))
      this.fault(`${name} must have no user, no password, no query and no fragment.`);
    return text.replace(/(?<!\/)\/+$/, '');
  }

  /** The name of a header, in lower case. */
  headerName(name: string, fallback: string): string {
    const header = this.text(name) ?? fallback;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header)) this.fault(`${name} must be the name of a header.`);
    return header.toLowerCase();
  }

  uuid(name: string): string | null {
    const text = this.text(name);
    if (text === null || z.guid().safeParse(text).success) return text?.toLowerCase() ?? null;
    this.fault(`${name} must be a uuid.`);
    return null;
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | null {
    const text = this.text(name);
    if (text === null) return null;
    const found = allowed.find((item) => item === text);
    if (found === undefined) this.fault(`${name} must be one of ${allowed.join(', ')}.`);
    return found ?? null;
  }

  /** @param schemes matches the origins that the list may have */
  origins(name: string, schemes: RegExp): readonly string[] {
    const origins = this.list(this.text(name));
    if (!origins.every((origin) => schemes.test(origin) && isOrigin(origin)))
      this.fault(
        `${name} must list exact origins such as https://app.example.com, without path or wildcard.`,
      );
    return origins;
  }

  /** Generates a missing secret; with NODE_ENV=production it is a fault. */
  generate(name: string, pick: (secrets: GeneratedSecrets) => string): string | null {
    if (this.production) {
      this.fault(`${name} is missing: with NODE_ENV=production nothing is generated.`);
      return null;
    }
    this.#secrets ??= this.#loadSecrets();
    this.generated.push(name);
    return pick(this.#secrets);
  }
}
