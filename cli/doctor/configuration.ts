import type { Settings } from '../../gateway/commands/program.ts';
import type { Config } from '../../gateway/config/config.ts';
import { isGatewayError } from '../../gateway/errors.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

interface Reading {
  /** Null where a gateway would not start with it. */
  readonly config: Config | null;
  /** Sentences that begin with the name of a variable and never say its value. */
  readonly faults: readonly string[];
}

function read(settings: Settings, more: Readonly<Record<string, string>> = {}): Reading {
  try {
    return { config: settings.readConfig(more), faults: [] };
  } catch (error) {
    if (!isGatewayError(error, 'CONFIG_INVALID')) throw error;
    return { config: null, faults: error.message.split('\n').map((line) => line.replace(/^- /, '')) };
  }
}

/** Reads the configuration as the gateway does. */
export function checkConfiguration(settings: Settings): {
  readonly config: Config | null;
  readonly findings: readonly Finding[];
} {
  const { config, faults } = read(settings);
  const advice = 'The gateway does not start before it is mended: docs/configuration.md.';
  if (config === null)
    return { config, findings: faults.map((each) => fault('configuration', each, advice)) };
  return {
    config,
    findings: [
      ok('configuration', 'It has no fault.'),
      ...checkProduction(config, settings),
      checkWebhookSecrets(config),
      checkOrigins(config),
    ],
  };
}

function checkProduction(config: Config, settings: Settings): readonly Finding[] {
  const check = 'production';
  if (config.production) return [ok(check, 'NODE_ENV=production.')];
  if (config.service.kind === 'embedded') return [ok(check, 'The sandbox is embedded: nothing is real.')];
  const message = 'NODE_ENV is not production: weak secrets are accepted and missing ones generated.';
  const judge = isLoopback(config.service.url) ? warning : fault;
  return [
    judge(check, message, 'Set NODE_ENV=production where the service is a real one.'),
    ...read(settings, { NODE_ENV: 'production' }).faults.map((each) =>
      warning('secrets', each, 'It is refused with NODE_ENV=production: docs/configuration.md.'),
    ),
  ];
}

/** The service does not know a generated secret, unless the gateway registers its webhook or takes events from a broker. */
function checkWebhookSecrets({ service, generated, management, intake }: Config): Finding {
  const check = 'webhook secret';
  if (service.kind === 'embedded' || !generated.includes('WEBHOOK_SECRETS'))
    return ok(check, 'The secrets are set.');
  const message = 'WEBHOOK_SECRETS is not set: what the service signs is refused.';
  const fix = 'Set WEBHOOK_SECRETS to the secret of the webhook at the service.';
  return management === null && intake === null ? fault(check, message, fix) : warning(check, message, fix);
}

function checkOrigins({ service, allowedOrigins, production }: Config): Finding {
  const check = 'origin';
  if (service.kind === 'embedded') return ok(check, 'The demo needs none.');
  const fix = 'List the exact origins of the pages that embed the widget in ALLOWED_ORIGINS.';
  if (allowedOrigins.length === 0)
    return warning(check, 'ALLOWED_ORIGINS is empty: no page can use the widget.', fix);
  if (production && allowedOrigins.some((origin) => origin.startsWith('http:') && !isLoopback(origin)))
    return warning(check, 'ALLOWED_ORIGINS lists an origin without https: its pages can be altered.', fix);
  return ok(check, `${allowedOrigins.length} allowed.`);
}

function isLoopback(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}
