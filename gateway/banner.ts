import type { Config } from './config/config.ts';

const firstQuery =
  '{ users(first: 2) { nodes { clientUserId orders(first: 2) { nodes { id status { label } } } } } }';

/**
 * What a start prints for people: the address, and with the embedded sandbox everything needed for a first
 * answer. A generated gateway key is shown, because nobody else knows it; a configured one never.
 */
export function describeStart(config: Config, url: string): string {
  const lines = [`Labgraph is listening on ${url}`, '', `  GraphQL   ${url}/graphql`];
  if (config.service.kind === 'embedded') lines.push(`  Demo      ${url}/`);
  const key = generatedGatewayKey(config);
  if (key !== null) {
    lines.push(`  Key       ${key}`, '', '  Try it:', `  ${describeCurl(url, key)}`);
  }
  const unset = config.generated.filter(
    (name) => config.service.kind === 'remote' && name !== 'GATEWAY_API_KEYS',
  );
  if (unset.length > 0) lines.push('', `  Generated, because not set: ${unset.join(', ')}`);
  return `${lines.join('\n')}\n\n`;
}

/** The gateway key that was generated for want of a configured one, or null. */
export function generatedGatewayKey(config: Config): string | null {
  return config.generated.includes('GATEWAY_API_KEYS') ? (config.gatewayApiKeys[0] ?? null) : null;
}

function describeCurl(url: string, key: string): string {
  const body = JSON.stringify({ query: firstQuery });
  return `curl -s ${url}/graphql -H 'authorization: Bearer ${key}' -H 'content-type: application/json' -d '${body}'`;
}
