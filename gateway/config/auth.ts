import { createPrivateKey } from 'node:crypto';
import type { Reading } from './reading.ts';

/** The team's identity provider: whose tokens are taken beside our own. */
export interface ViewerProviderConfig {
  /** Where it publishes the keys that it signs with (RFC 7517). */
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: string;
  /** The claim that holds the service's id of the user. */
  readonly userClaim: string;
}

/** What our own tokens name as their issuer; no provider may have the same. */
export const ownIssuer = 'labgraph';
/** Stands before a private key in VIEWER_TOKEN_SECRET. */
export const ed25519Prefix = 'ed25519:';
const minSecretLength = 32;

/** An entry of GATEWAY_API_KEYS. */
interface GatewayKeyEntry {
  /** The name of the key's holder; null without a label. */
  readonly label: string | null;
  /** As text or `sha256:<hex>`. */
  readonly key: string;
}

/** `label=key`. Keys in base64 have `=` at their end only, so they are no label and the rest. */
export function splitGatewayKey(entry: string): GatewayKeyEntry {
  const [, label, key] = /^([a-z][\w-]{0,31})=([^=].*)$/i.exec(entry) ?? [];
  return label === undefined || key === undefined ? { label: null, key: entry } : { label, key };
}

/** Viewers go by `user-` in the audit trail, the gateway itself by `team`. */
const takenLabel = /^(user|team)/i;

export function readGatewayKeys(reading: Reading): readonly string[] {
  const keys = reading.list(reading.secret('GATEWAY_API_KEYS'));
  for (const { label, key } of keys.map(splitGatewayKey)) {
    if (key.startsWith('sha256:') && !/^sha256:[0-9a-f]{64}$/i.test(key))
      reading.fault('GATEWAY_API_KEYS has a sha256: entry that is not 64 hexadecimal digits.');
    if (key.includes('=sha256:') || (label !== null && takenLabel.test(label)))
      reading.fault(
        'GATEWAY_API_KEYS has a label that is not a letter and up to 31 letters, digits, - and _, or that begins like user or team.',
      );
  }
  if (keys.length > 0) return keys;
  const generated = reading.generate('GATEWAY_API_KEYS', (kept) => kept.gatewayApiKey);
  return generated === null ? [] : [generated];
}

/** In production none are needed where an identity provider makes the tokens; then none are minted. */
export function readViewerSecrets(reading: Reading): readonly string[] {
  const secrets = reading.list(reading.secret('VIEWER_TOKEN_SECRET'));
  const [keys, texts] = [secrets.filter(isKeyEntry), secrets.filter((secret) => !isKeyEntry(secret))];
  if (texts.some((secret) => secret.length < minSecretLength))
    reading.fault(`VIEWER_TOKEN_SECRET must be at least ${minSecretLength} characters long.`);
  if (!keys.every(isEd25519Key))
    reading.fault('VIEWER_TOKEN_SECRET has an ed25519: entry that is no private key (base64 of PKCS 8).');
  if (secrets.length > 0) return secrets;
  if (reading.production && reading.text('VIEWER_JWKS_URL') !== null) return [];
  const generated = reading.generate('VIEWER_TOKEN_SECRET', (kept) => kept.viewerTokenSecret);
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

/** In clear only to this machine, or while somebody develops. */
function isKeyAddress(text: string, production: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  const isHere = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && (isHere || !production));
}
