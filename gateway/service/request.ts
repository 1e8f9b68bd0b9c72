import { FormData } from 'undici';
import { GatewayError } from '../errors.ts';
import type { Form, UpstreamCall } from './calls.ts';
import { acceptEncoding } from './encoding.ts';

/** Equal calls of one rights key have the same. */
export function toKey(call: UpstreamCall, rights: string): string {
  const body = call.body === undefined ? '' : JSON.stringify(call.body);
  const headers = call.headers === undefined ? '' : JSON.stringify(call.headers);
  return `${call.operation} ${rights} ${call.method} ${toPath('', call)} ${headers} ${body}`;
}

export function toPath(prefix: string, call: UpstreamCall): string {
  const base = prefix.endsWith('/') ? prefix.replace(/(?<!\/)\/+$/, '') : prefix;
  const query = call.query === undefined ? '' : toQuery(call.query);
  return query === '' ? base + call.path : `${base}${call.path}?${query}`;
}

/** Characters of a query before they are encoded. Servers refuse longer ones, and each call encodes them anew. */
const maxQueryCharacters = 16_000;

/** @throws GatewayError BAD_USER_INPUT when it is too long */
function toQuery(query: NonNullable<UpstreamCall['query']>): string {
  let text = '';
  let characters = 0;
  const add = (name: string, value: string | number | boolean) => {
    characters += name.length + String(value).length;
    if (characters > maxQueryCharacters) throw new GatewayError('BAD_USER_INPUT', 'The filter is too long.');
    text += `${text === '' ? '' : '&'}${encode(name)}=${encode(String(value))}`;
  };
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    if (typeof value === 'object') for (const item of value) add(name, item);
    else add(name, value);
  }
  return text;
}

/** Texts that form encoding leaves as they are: names, ids, numbers and days. */
const plain = /^[\w.*-]*$/;

/** Form encoding; a text without special characters skips the slow encoder. */
function encode(text: string): string {
  return plain.test(text) ? text : new URLSearchParams([['', text]]).toString().slice(1);
}

export function toHeaders(call: UpstreamCall, key: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = {};
  if (call.headers !== undefined) addLower(headers, call.headers);
  headers.accept = 'application/json';
  headers['accept-encoding'] = acceptEncoding;
  if (call.body !== undefined) headers['content-type'] = 'application/json';
  // Last and in lower case, so that no call can replace or double it.
  addLower(headers, key);
  return headers;
}

function addLower(headers: Record<string, string>, more: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(more)) headers[name.toLowerCase()] = value;
}

export function toBody({ body, form }: UpstreamCall) {
  if (form !== undefined) return { body: toFormData(form) };
  return body === undefined ? {} : { body: JSON.stringify(body) };
}

/** undici's own class: its client knows no other. The files are read as they are sent, not before. */
function toFormData(form: Form): FormData {
  const made = new FormData();
  for (const part of form) {
    if ('file' in part) made.append(part.name, part.file, part.fileName);
    else made.append(part.name, part.value);
  }
  return made;
}
