import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { createLabgraphClient } from '@labgraph/client';
import { encodeFiles } from '@labgraph/client/files';
import { fetchExchange, Client as UrqlClient } from '@urql/core';
import UploadHttpLink from 'apollo-upload-client/UploadHttpLink.mjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatewayKey } from '../support/lab.ts';
import { type Bench, bearer, startBench } from './support.ts';

const text = `mutation CreateLabReport($input: CreateLabReportInput!) {
  createLabReport(input: $input) { __typename ... on LabReportCreated { labReport { userId } } }
}`;
const pages = ['one', 'two'].map((name) => {
  const jpeg = new Uint8Array([0xff, 0xd8, 0xff, 0xe0]);
  return new File([jpeg, name], `${name}.jpg`, { type: 'image/jpeg' });
});

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** How each client sends a mutation whose variables hold files. */
const clients: Readonly<Record<string, (variables: object) => Promise<unknown>>> = {
  '@labgraph/client with encodeFiles': async (variables) =>
    createLabgraphClient({ url: bench.url, token: gatewayKey, encode: encodeFiles }).mutate(text, {
      ...variables,
    }),
  urql: async (variables) => {
    const fetchOptions = { headers: bearer(gatewayKey) };
    const client = new UrqlClient({
      url: bench.url,
      preferGetMethod: false,
      fetchOptions,
      exchanges: [fetchExchange],
    });
    return (await client.mutation(text, variables)).data;
  },
  'Apollo Client with apollo-upload-client': async (variables) => {
    const link = new UploadHttpLink({ uri: bench.url, headers: bearer(gatewayKey) });
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    return (await client.mutate({ mutation: gql(text), variables: { ...variables } })).data;
  },
};

test.each(Object.entries(clients))('%s sends the pages of a lab report', async (name, send) => {
  const { userId } = bench.freshOrder();
  const answer = await send({ input: { userId, files: pages, idempotencyKey: name } });
  expect(answer).toMatchObject({
    createLabReport: { __typename: 'LabReportCreated', labReport: { userId } },
  });
});
