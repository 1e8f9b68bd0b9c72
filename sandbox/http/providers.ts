import { z } from 'zod';

const oauth = new Set(
  (
    'oura fitbit garmin strava wahoo ihealth withings google_fit dexcom_v3 polar cronometer omron whoop_v2 ' +
    'my_fitness_pal_v2 ultrahuman runkeeper google_health'
  ).split(' '),
);

const labsAndOthers = new Set(
  (
    'ayumetrix spiriplex ussl quest sonora_quest labcorp bioreference us_biotek manual sanocardio ihd nexus my_uti ' +
    'crl mtl aftership shippo supera twilio telnyx getlabs phlebfinders freestyle_libre'
  ).split(' '),
);

/** A provider to which users sign in (public service: OAuthProviders). */
export const oauthProvider = z.string().refine((name) => oauth.has(name), 'not a provider with sign-in');

/** Any provider that a team may have credentials with (public service). */
export const credentialProvider = z
  .string()
  .refine((name) => oauth.has(name) || labsAndOthers.has(name), 'not a provider');

/** The steps that a team takes at the provider before its credentials work. */
export function preparationSteps(provider: string) {
  if (provider === 'google_health') {
    const value = 'labs@example.iam.gserviceaccount.com';
    return [{ type: 'iam_principal', key: null, value, description: 'Give this principal access.' }];
  }
  if (!oauth.has(provider)) return [];
  return [
    {
      type: 'redirect_uri',
      key: null,
      value: `https://link.example.com/oauth/${provider}`,
      description: null,
    },
    {
      type: 'webhook_uri',
      key: null,
      value: `https://link.example.com/events/${provider}`,
      description: null,
    },
  ];
}
