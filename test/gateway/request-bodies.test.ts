import { gzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab[Symbol.asyncDispose]());

const json = JSON.stringify({ query: '{ viewer { kind } }' });

async function post(headers: Readonly<Record<string, string>>, bytes: Buffer | string = json) {
  const {
    statusCode,
    headers: answered,
    body,
  } = await request(`${lab.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gatewayKey}`, ...headers },
    body: bytes,
  });
  return { status: statusCode, codings: answered['accept-encoding'], body: await body.json() };
}

const answer = { status: 200, body: { data: { viewer: { kind: 'TEAM' } } } };
const refused = {
  status: 415,
  body: { errors: [{ message: expect.any(String), extensions: { code: 'BAD_REQUEST' } }] },
};

describe('a compressed body is 415, and the answer says that it must come as it is:', () => {
  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ['JSON', { 'content-encoding': 'gzip' }],
    ['JSON in two codings', { 'content-encoding': 'identity, GZIP' }],
    ['a form', { 'content-encoding': 'gzip', 'content-type': 'multipart/form-data; boundary=x' }],
  ])('%s', async (_name, headers) => {
    expect(await post(headers, gzipSync(json))).toEqual({ ...refused, codings: 'identity' });
  });

  test('and `identity` is none', async () => {
    for (const coding of ['Identity', '', 'UTF-8'])
      expect(await post({ 'content-encoding': coding })).toMatchObject(answer);
  });
});

describe('a body in another charset than UTF-8 is 415:', () => {
  test.each(['iso-8859-1', '"iso-8859-1"', 'UTF-16', 'utf-8-x', 'windows-1252', '"utf-8, latin1"'])(
    '%s',
    async (charset) => {
      const type = `application/json; charset=${charset}`;
      expect(await post({ 'content-type': type })).toEqual({ ...refused, codings: undefined });
    },
  );

  test.each([
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; Charset="UTF-8"; profile="x;charset=latin1"',
    'application/json; charset=utf8',
    'application/json; charset=us-ascii',
    "application/json; charset='utf-8'",
    'application/json;',
    'application/graphql+json; charset=Utf-8',
  ])('and %s is answered', async (type) => {
    expect(await post({ 'content-type': type })).toMatchObject(answer);
  });
});
