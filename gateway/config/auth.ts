import { createHash, createPrivateKey } from 'node:crypto';
import type { Reading } from './reading.ts';

/** The team's identity provider, whose tokens are accepted beside our own. */
export interface ViewerProviderConfig {
  /** Where it publishes the keys that it signs with (RFC 7517). */
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: string;
  /** The claim that holds the service's id of the user. */
  readonly userClaim: string;
}

/** The issuer of our own tokens; no provider may have the same. */
export const ownIssuer = 'labgraph';
/** The prefix of a private key in VIEWER_TOKEN_SECRET. */
export const ed25519Prefix = 'ed25519:';
const minSecretLength = 32;

/** An entry of GATEWAY_API_KEYS or MANAGEMENT_API_KEYS. */
interface KeyEntry {
  /** The name of the key's holder; null without a label. */
  readonly label: string | null;
  /** As text or `sha256:<hex>`. */
  readonly key: string;
}

/** Splits `label=key`. A base64 key has `=` at its end only, so such a key has no label. */
export function splitKeyEntry(entry: string): KeyEntry {
  const [, label, key] = /^([a-z][\w-]{0,31})=([^=].*)$/i.exec(entry) ?? [];
  return label === undefined || key === undefined ? { label: null, key: entry } : { label, key };
}

/** The audit trail names viewers `user-...` and the gateway itself `team`. */
const takenLabel = /^(user|team)/i;

/** The keys of a variable: with or without `label=`, as text or `sha256:<hex>`. */
export function readApiKeys(reading: Reading, name: string): readonly string[] {
  const keys = reading.list(reading.secret(name));
  for (const { label, key } of keys.map(splitKeyEntry)) {
    if (key.startsWith('sha256:') && !/^sha256:[0-9a-f]{64}$/i.test(key))
      reading.fault(`${name} has a sha256: entry that is not 64 hexadecimal digits.`);
    if (key.includes('=sha256:') || (label !== null && takenLabel.test(label)))
      reading.fault(
        `${name} has a label that is not a letter and up to 31 letters, digits, - and _, or that begins like user or team.`,
      );
    else reading.refuseUnsendable(name, key);
  }
  return keys;
}

export function readGatewayKeys(reading: Reading): readonly string[] {
  const keys = readApiKeys(reading, 'GATEWAY_API_KEYS');
  if (keys.length > 0) return keys;
  const generated = reading.generate('GATEWAY_API_KEYS', (secrets) => secrets.gatewayApiKey);
  return generated === null ? [] : [generated];
}

/** In production the secrets may be missing if an identity provider issues the tokens; the gateway then mints none. */
export function readViewerSecrets(reading: Reading): readonly string[] {
  const secrets = reading.list(reading.secret('VIEWER_TOKEN_SECRET'));
  const [keys, texts] = [secrets.filter(isKeyEntry), secrets.filter((secret) => !isKeyEntry(secret))];
  if (texts.some((secret) => secret.length < minSecretLength))
    reading.fault(`VIEWER_TOKEN_SECRET must be at least ${minSecretLength} characters long.`);
  if (!keys.every(isEd25519Key))
    reading.fault('VIEWER_TOKEN_SECRET has an ed25519: entry that is no private key (base64 of PKCS 8).');
  if (secrets.length > 0) return secrets;
  if (reading.production && reading.text('VIEWER_JWKS_URL') !== null) return [];
  const generated = reading.generate('VIEWER_TOKEN_SECRET', (secrets) => secrets.viewerTokenSecret);
  return generated === null ? [] : [generated];
}

function isKeyEntry(secret: string): boolean {
  return secret.startsWith(ed25519Prefix);
}

function isEd25519Key(entry: string): boolean {
  const key = Buffer.from(entry.slice(ed25519Prefix.length), 'base64');
  try {
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' }).asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}

export function readViewerProvider(reading: Reading): ViewerProviderConfig | null {
  const jwksUrl = reading.text('VIEWER_JWKS_URL');
  const [issuer, audience] = [reading.text('VIEWER_ISSUER'), reading.text('VIEWER_AUDIENCE')];
  const userClaim = reading.text('VIEWER_USER_CLAIM') ?? 'sub';
  if (jwksUrl === null) {
    for (const name of ['VIEWER_ISSUER', 'VIEWER_AUDIENCE', 'VIEWER_USER_CLAIM']) {
      if (reading.text(name) !== null) reading.fault(`${name} is of no use without VIEWER_JWKS_URL.`);
    }
    return null;
  }
  if (!isKeyAddress(jwksUrl, reading.production))
    reading.fault('VIEWER_JWKS_URL must be an https address: who can change the keys can be anybody.');
  if (issuer === null)
    reading.fault('VIEWER_ISSUER is missing: it is what the tokens of VIEWER_JWKS_URL name as iss.');
  if (issuer === ownIssuer) reading.fault(`VIEWER_ISSUER ${ownIssuer} is the name of the gateway itself.`);
  if (audience === null)
    reading.fault('VIEWER_AUDIENCE is missing: it is what the tokens of VIEWER_JWKS_URL name as aud.');
  return { jwksUrl, issuer: issuer ?? '', audience: audience ?? '', userClaim };
}

/** Whether the address is safe for keys: https, or http to this machine, or http outside production. */
export function isKeyAddress(text: string, production: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  const isHere = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && (isHere || !production));
}

/** The values of one variable, and their least length in characters: the service may issue shorter ones than we would. */
export interface SecretsOfVariable {
  readonly name: string;
  readonly minLength: number;
  readonly secrets: readonly string[];
}

interface NamedSecret extends Omit<SecretsOfVariable, 'secrets'> {
  readonly secret: string;
}

const prefixes = /^(whsec_|sha256:|ed25519:)/;
const minDistinct = 8;
/** The characters that a secret must have besides common words, years and counting. */
const minOwn = 12;
const commonWords =
  /change|replace|password|passwort|passwd|secret|default|example|sample|placeholder|dummy|admin|root|test|demo|super|your|this|please|here|insecure|letmein|welcome|qwert[yz](uiop)?|asdf(ghjkl)?|labgraph|gateway|viewer|webhook|service|event|token|key|api|log|dev|prod(uction)?|me|my|(19|20)\d\d|0?1234?5?6?7?8?9?0?|[\s!-,.:;_-]/gi;

/** Reports every secret that is too short, easily guessed or used twice (docs/configuration.md). */
export function refuseWeakSecrets(reading: Reading, variables: readonly SecretsOfVariable[]): void {
  const named = variables
    .filter(({ name }) => !reading.hasFault(name))
    .flatMap(({ name, minLength, secrets }) => secrets.map((secret) => ({ name, minLength, secret })))
    .filter(({ secret }) => secret !== '');
  const owners = new Map<string, string>();
  const weaknesses = named.map(describeWeakness);
  const repeats = named.map(({ name, secret }) => describeRepeat(owners, name, fingerprintsOf(secret)));
  for (const fault of new Set([...weaknesses, ...repeats])) if (fault !== null) reading.fault(fault);
}

function describeWeakness({ name, minLength, secret }: NamedSecret): string | null {
  const bare = secret.replace(prefixes, '');
  if (bare.length < minLength) return `${name} is too short: ${minLength} characters are the least.`;
  // The bytes of a base64 secret count as well.
  const isBase64 = name === 'EVENT_LOG_KEY' || name === 'AUDIT_TRAIL_KEY' || secret.startsWith('whsec_');
  const isWeak =
    isGuessable(bare) || (isBase64 && isGuessable(Buffer.from(bare, 'base64').toString('latin1')));
  return isWeak ? `${name} is easily guessed: make it of random bytes (openssl rand -base64 32).` : null;
}

/** Few different characters, little more than common words, one piece over and over, or counting. */
function isGuessable(text: string): boolean {
  const own = text.replaceAll(commonWords, '');
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const half = codes.length / 2;
  return (
    own.length < minOwn ||
    new Set(own).size < minDistinct ||
    codes.some((_, at) => at > 0 && at <= half && text.startsWith(text.slice(at))) ||
    codes.filter((code, at) => Math.abs(code - (codes[at - 1] ?? code)) === 1).length > half
  );
}

function describeRepeat(owners: Map<string, string>, name: string, prints: readonly string[]): string | null {
  const owner = prints.map((print) => owners.get(print)).find((found) => found !== undefined);
  for (const print of prints) if (!owners.has(print)) owners.set(print, name);
  if (owner === undefined) return null;
  if (owner === name) return `${name} lists one secret twice.`;
  return `${name} is the same secret as ${owner}: each must be its own.`;
}

/** Equal for equal secrets, also where one is given by its hash or without its prefix. */
function fingerprintsOf(secret: string): readonly string[] {
  if (secret.startsWith('sha256:')) return [secret.slice('sha256:'.length).toLowerCase()];
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  return [...new Set([hash(secret), hash(secret.replace(prefixes, ''))])];
}
