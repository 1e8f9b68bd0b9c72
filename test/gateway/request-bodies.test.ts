import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
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

describe('a body whose bytes are not UTF-8 is 415, and nothing of it reaches the service:', () => {
  const name = 'Jos\u00e9';
  const mutation = JSON.stringify({
    query: 'mutation ($input: CreateUserInput!) { createUser(input: $input) { __typename } }',
    variables: { input: { clientUserId: name } },
  });
  const form = (text: string) =>
    `--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n${text}\r\n--x\r\ncontent-disposition: form-data; name="map"\r\n\r\n{}\r\n--x--\r\n`;

  test.each<readonly [string, string, string]>([
    ['on the direct path', 'application/json', mutation],
    ['through Yoga', 'application/graphql+json', mutation],
    ['in a form', 'multipart/form-data; boundary=x', form(mutation)],
  ])('%s', async (_way, type, text) => {
    const before = lab.sandbox.calls.length;

    const refusal = await post({ 'content-type': type }, Buffer.from(text, 'latin1'));

    expect(refusal).toEqual({ ...refused, codings: undefined });
    expect(lab.sandbox.calls).toHaveLength(before);
    const created = await post({ 'content-type': type }, Buffer.from(text));
    expect(created.body).toMatchObject({ data: { createUser: { __typename: expect.any(String) } } });
  });

  test.each(['application/json', 'application/graphql+json'])(
    'that ends within a letter, as %s',
    async (type) => {
      const cut = Buffer.from(`"${name}`).subarray(0, -1);
      expect(await post({ 'content-type': type }, cut)).toEqual({ ...refused, codings: undefined });
    },
  );

  test('in the parameters of a GET it is 400', async () => {
    const ask = async (letter: string) => {
      const query = `%7Ba:__type(name:%22${letter}%22)%7Bname%7D%7D`;
      const { statusCode, body } = await request(`${lab.url}/graphql?query=${query}`, {
        headers: { authorization: `Bearer ${gatewayKey}` },
      });
      return { status: statusCode, body: await body.json() };
    };
    expect(await ask('Jos%E9')).toEqual({ ...refused, status: 400 });
    for (const letter of ['Jos%C3%A9', '100%', '%zz'])
      expect(await ask(letter)).toEqual({ status: 200, body: { data: { a: null } } });
  });

  test('a binary message of a socket closes it with 4400', async () => {
    const socket = new WebSocket(`${lab.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const init = { type: 'connection_init', payload: { authorization: `Bearer ${gatewayKey}` } };
    socket.send(Buffer.from(JSON.stringify(init)));
    await once(socket, 'message');

    const message = { type: 'subscribe', id: '1', payload: JSON.parse(mutation) };
    socket.send(Buffer.from(JSON.stringify(message), 'latin1'));

    expect((await closed)[0]).toBe(4400);
  });
});
