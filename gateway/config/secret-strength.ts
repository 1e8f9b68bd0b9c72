import { createHash } from 'node:crypto';
import { splitGatewayKey } from './auth.ts';
import type { Reading } from './reading.ts';

/** The secrets of a configuration, as far as they are judged. */
interface Secrets {
  readonly service: { readonly apiKey: string };
  readonly webhookSecrets: readonly string[];
  readonly gatewayApiKeys: readonly string[];
  readonly viewerTokenSecrets: readonly string[];
  readonly eventLogKeys: readonly Buffer[];
  readonly auditTrail: { readonly keys: readonly Buffer[] } | null;
}

interface Named {
  readonly name: string;
  readonly secret: string;
  /** In characters. What the service issues may be shorter than what we would make. */
  readonly minLength: number;
}

const prefixes = /^(whsec_|sha256:|ed25519:)/;
const minDistinct = 8;
/** What must be left of a secret without the words that everybody tries first. */
const minOwn = 12;
const words =
  /change|replace|password|passwort|passwd|secret|default|example|sample|placeholder|dummy|admin|root|test|demo|super|your|this|please|here|insecure|letmein|welcome|qwert[yz](uiop)?|asdf(ghjkl)?|labgraph|gateway|viewer|webhook|service|event|token|key|api|log|dev|prod(uction)?|me|my|[^a-z0-9]/gi;

/** Reports every secret that is easy to guess, and every secret that is used twice. */
export function refuseWeakSecrets(reading: Reading, secrets: Secrets): void {
  const named = nameSecrets(secrets).filter(({ name, secret }) => secret !== '' && !reading.hasFault(name));
  const faults = [...named.flatMap(describeWeakness), ...describeEqual(named)];
  for (const fault of new Set(faults)) reading.fault(fault);
}

function nameSecrets(secrets: Secrets): readonly Named[] {
  const { service, webhookSecrets, gatewayApiKeys, viewerTokenSecrets, eventLogKeys, auditTrail } = secrets;
  const name = (variable: string, minLength: number, list: readonly string[]) =>
    list.map((secret): Named => ({ name: variable, secret, minLength }));
  return [
    ...name('SERVICE_API_KEY', 16, [service.apiKey]),
    ...name('WEBHOOK_SECRETS', 22, webhookSecrets),
    ...name(
      'GATEWAY_API_KEYS',
      24,
      gatewayApiKeys.map(splitGatewayKey).map(({ key }) => key),
    ),
    ...name('VIEWER_TOKEN_SECRET', 32, viewerTokenSecrets),
    ...name('EVENT_LOG_KEY', 44, eventLogKeys.map(toBase64)),
    ...name('AUDIT_TRAIL_KEY', 44, (auditTrail?.keys ?? []).map(toBase64)),
  ];
}

function toBase64(key: Buffer): string {
  return key.toString('base64');
}

function describeWeakness({ name, secret, minLength }: Named): readonly string[] {
  const bare = secret.replace(prefixes, '');
  if (bare.length < minLength) return [`${name} is too short: ${minLength} characters are the least.`];
  const isBytes = name === 'EVENT_LOG_KEY' || name === 'AUDIT_TRAIL_KEY' || secret.startsWith('whsec_');
  // What is written as base64 is as weak as its bytes.
  const forms = isBytes ? [bare, Buffer.from(bare, 'base64').toString('latin1')] : [bare];
  const isWeak = forms.some((form) => isMonotonous(form) || isMadeOfWords(form));
  return isWeak ? [`${name} is easily guessed: make it of random bytes (openssl rand -base64 32).`] : [];
}

/** Few different characters, one piece over and over, or counting. */
function isMonotonous(text: string): boolean {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const stepsOfOne = codes.filter((code, at) => at > 0 && Math.abs(code - (codes[at - 1] ?? 0)) === 1).length;
  return new Set(codes).size < minDistinct || hasPeriod(text) || stepsOfOne > codes.length / 2;
}

function hasPeriod(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period += 1) {
    if (text.slice(period) === text.slice(0, -period)) return true;
  }
  return false;
}

function isMadeOfWords(text: string): boolean {
  const left = text.replaceAll(words, '').replaceAll(/(?:19|20)\d\d|0?1234?5?6?7?8?9?0?/g, '');
  return isReadable(text) && left.length < minOwn;
}

/** Bytes that are no text hold words by chance only. */
function isReadable(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function describeEqual(named: readonly Named[]): readonly string[] {
  const owners = new Map<string, string>();
  return named.flatMap(({ name, secret }) => {
    const prints = fingerprints(secret);
    const owner = prints.map((print) => owners.get(print)).find((found) => found !== undefined);
    for (const print of prints) if (!owners.has(print)) owners.set(print, name);
    if (owner === undefined) return [];
    return [
      owner === name
        ? `${name} lists one secret twice.`
        : `${name} is the same secret as ${owner}: each must be its own.`,
    ];
  });
}

/** Equal for equal secrets, also where one is given by its hash or without its prefix. */
function fingerprints(secret: string): readonly string[] {
  if (secret.startsWith('sha256:')) return [secret.slice('sha256:'.length).toLowerCase()];
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  return [...new Set([hash(secret), hash(secret.replace(prefixes, ''))])];
}
