import type { UpstreamCall } from './client.ts';
import { toFormData } from './form.ts';

/** Equal calls of one rights key have the same. */
export function toKey(call: UpstreamCall, rights: string): string {
  const body = call.body === undefined ? '' : JSON.stringify(call.body);
  const headers = call.headers === undefined ? '' : JSON.stringify(call.headers);
  return `${call.operation} ${rights} ${call.method} ${toPath('', call)} ${headers} ${body}`;
}

export function toPath(prefix: string, call: UpstreamCall): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value === null || value === undefined) continue;
    const values: readonly (string | number | boolean)[] = typeof value === 'object' ? value : [value];
    for (const item of values) query.append(name, String(item));
  }
  const text = query.toString();
  return `${prefix.replace(/\/+$/, '')}${call.path}${text === '' ? '' : `?${text}`}`;
}

export function toHeaders(call: UpstreamCall, key: Readonly<Record<string, string>>): Record<string, string> {
  const more = Object.entries(call.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const own = Object.entries(key).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...Object.fromEntries(more),
    accept: 'application/json',
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    // Last and in lower case, so that no call can replace or double it.
    ...Object.fromEntries(own),
  };
}

export function toBody({ body, form }: UpstreamCall) {
  if (form !== undefined) return { body: toFormData(form) };
  return body === undefined ? {} : { body: JSON.stringify(body) };
}
