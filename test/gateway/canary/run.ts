import { expect } from 'vitest';
import { gatewayKey, graphqlRequest, webhookSecret } from '../../support/lab.ts';
import { pageOrigin, postTicket } from '../../support/launch.ts';
import { json, silence } from '../../support/misbehaving-service.ts';
import { labTestOf } from '../../support/ordering.ts';
import type { SpoiltLab } from '../../support/spoilt-lab.ts';
import { transports } from '../../support/subscribe.ts';
import { visitKinds } from '../../support/visiting.ts';
import { ask } from '../mutations/ask.ts';
import { patient } from '../mutations/order-rows.ts';
import { canary } from '../mutations/row.ts';
import { rows } from '../mutations/rows.ts';
import { signedHeaders } from '../webhooks/support.ts';
import { faultsWith } from './faults.ts';
import type { Planted } from './plant.ts';
import { queriesAbout } from './queries.ts';

/** A gateway in use, with something to leak in each place. */
export interface Stage {
  /** Every answer of its `gateway.fetch` is recorded. */
  readonly lab: SpoiltLab;
  readonly planted: Planted;
  /** A server that must receive nothing: redirects point to it. */
  readonly elsewhere: string;
  /** Tokens, tickets and links that came up: secrets like the keys. */
  readonly secrets: string[];
  /** Whose things are used, and an order of theirs with results. */
  readonly userId: string;
  readonly orderId: string;
}

/** Asks as a server of the team. */
async function query({ lab }: Stage, text: string, variables: object = {}) {
  const request = graphqlRequest(lab.url, { query: text, variables }, gatewayKey);
  request.headers.set('origin', pageOrigin);
  return await (await lab.gateway.fetch(request)).json();
}

/** Every mutation, with each fault of the service and then as it should be: what each said in the end. */
export async function makeMutations(stage: Stage): Promise<readonly string[]> {
  const { lab, planted, elsewhere } = stage;
  const words: string[] = [];
  for (const row of rows) {
    await placeFreshOrders(stage);
    const arranged = await row.arrange(lab);
    for (const [, answer] of faultsWith(planted.text('answer'), elsewhere)) {
      if (row.asks === null) continue;
      lab.spoil({ at: row.asks.call, isDone: false, answer });
      await ask(lab, row, planted.inputs(arranged));
      lab.mend();
    }
    words.push(`${row.mutation} ${(await ask(lab, row, planted.inputs(arranged))).word}`);
  }
  return words;
}

/** One world for all mutations: each takes orders from the beginning of their life. */
async function placeFreshOrders({ lab, planted, userId }: Stage): Promise<void> {
  for (const { method } of visitKinds) {
    const { input } = planted.inputs({
      input: {
        userId,
        orderSet: { labTestIds: [labTestOf(lab, method)] },
        idempotencyKey: canary,
        ...patient,
      },
    });
    const text = 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { __typename } }';
    const answer = await lab.query(text, { variables: { input } });
    expect(answer.data.createOrder.__typename).toBe('OrderCreated');
  }
}

/** Webhooks of every fate, with health data and device data in them. */
export async function receiveWebhooks({ lab, planted, userId }: Stage): Promise<readonly number[]> {
  const event = (more: object = {}) =>
    JSON.stringify({
      event_type: 'daily.data.activity.created',
      data: {
        id: crypto.randomUUID(),
        calendar_date: '2026-03-02',
        source: { name: planted.text('device'), slug: 'oura', device_id: planted.text('serial') },
        steps: 8000,
        note: planted.text('health'),
      },
      user_id: userId,
      team_id: lab.sandbox.teamId,
      client_user_id: planted.text('reference'),
      ...more,
    });
  const post = async (body: string, headers: Readonly<Record<string, string>>) => {
    const request = new Request(`${lab.url}/webhooks`, { method: 'POST', headers, body });
    return (await lab.gateway.fetch(request)).status;
  };
  const signed = (body: string, more: object = {}) =>
    post(body, signedHeaders(body, { id: crypto.randomUUID(), secret: webhookSecret, ...more }));
  return [
    await signed(event()),
    await signed(event({ event_type: 'no.such.event', data: planted.text('unknown') })),
    await signed(planted.text('unreadable')),
    await signed(event({ team_id: crypto.randomUUID() })),
    await signed(event(), { id: 'altered' }),
    await signed(event(), { id: 'altered' }),
    await signed(event(), { age: 4000 }),
    await signed(event(), { secret: `whsec_${Buffer.alloc(32, 'x').toString('base64')}` }),
    await post(event(), {}),
  ];
}

/** Every query, while the service is well and in each kind of trouble, and with results that say things. */
export async function readEverything(stage: Stage): Promise<void> {
  const { lab, planted, elsewhere } = stage;
  const answer = json({
    metadata: { patient: planted.text('patient'), laboratory: planted.text('laboratory') },
    results: [{ name: planted.text('marker'), result: planted.text('value'), notes: planted.text('result') }],
  });
  lab.spoil({ at: /\/result$/, isDone: false, answer, times: 10 });
  for (const text of queriesAbout(stage)) {
    // What is asked in a wrong way would show nothing, and so leak nothing.
    expect((await query(stage, text)).errors?.[0]?.extensions.code).not.toBe('GRAPHQL_VALIDATION_FAILED');
  }
  lab.mend();
  for (const [, fault] of faultsWith(planted.text('answer'), elsewhere)) {
    lab.spoil({ at: /^GET /, isDone: false, answer: fault, times: Number.POSITIVE_INFINITY });
    await Promise.all(queriesAbout(stage).map((text) => query(stage, text)));
    lab.mend();
  }
}

/** Requests that are no queries: their words come back in nothing. */
export async function sendNonsense({ lab, planted }: Stage): Promise<void> {
  const bodies = [
    `{"query": "${planted.text('body')}`,
    JSON.stringify({ query: `{ order(id: "${planted.text('id')}") { id } }` }),
    JSON.stringify({
      query: 'query ($id: ID!) { order(id: $id) { id } }',
      variables: { id: [planted.text('list')] },
    }),
  ];
  for (const body of bodies) {
    for (const authorization of [`Bearer ${gatewayKey}`, `Bearer ${planted.text('token')}`]) {
      const headers = { 'content-type': 'application/json', authorization };
      await lab.gateway.fetch(new Request(`${lab.url}/graphql`, { method: 'POST', headers, body }));
    }
  }
  for (const path of [
    `/documents/${planted.text('ticket')}`,
    `/${planted.text('path')}`,
    '/health',
    '/ready',
    '/',
  ]) {
    await lab.gateway.fetch(new Request(`${lab.url}${path}`));
  }
  await postTicket(lab, planted.text('launch'));
}

/** Tokens, links, documents and launches, spent and unspent, while the service is well and while it is not. */
export async function useTickets(stage: Stage): Promise<void> {
  const { lab, planted, elsewhere, secrets, userId, orderId } = stage;
  const make = async (selection: string) => (await query(stage, `mutation { made: ${selection} }`)).data.made;
  const ofUser = `(input: { userId: "${userId}" })`;
  const makeDocument = () =>
    make(
      `createDocumentTicket(input: { orderId: "${orderId}", kind: RESULT }) { ... on DocumentTicket { url } }`,
    );
  const makeLaunch = () => make(`createLaunchTicket${ofUser} { ... on LaunchTicket { ticket } }`);
  const open = (url: string) => lab.gateway.fetch(new Request(`${lab.url}${url}`));

  secrets.push((await make(`createViewerToken${ofUser} { token }`)).token);
  secrets.push((await make(`createPortalUrl${ofUser} { ... on PortalUrl { url } }`)).url);
  for (const [, answer] of [['well', null] as const, ...faultsWith(planted.text('answer'), elsewhere)]) {
    const [document, launch] = [await makeDocument(), await makeLaunch()];
    secrets.push(document.url.replace('/documents/', ''), launch.ticket);
    if (answer !== null) {
      lab.spoil({ at: /result\/pdf$|create_portal_url$/, isDone: false, answer, times: 10 });
    }
    await (await open(document.url)).text();
    const launched = await postTicket(lab, launch.ticket);
    if (answer === null) secrets.push(launched.headers.get('location') ?? '');
    lab.mend();
  }
  expect(secrets.filter((secret) => secret.length < 16)).toEqual([]);
}

/** Streams of all kinds over every transport, with a change while they are open, and one that ends in a fault. */
export async function followStreams({ lab, userId }: Stage): Promise<void> {
  const moving = lab.sandbox.orders().find(({ status }) => status.endsWith('.ordered'));
  const texts = [
    `subscription { orderUpdates(orderId: "${moving?.orderId}") { cursor order { patient { firstName } } } }`,
    `subscription { userOrderUpdates(userId: "${moving?.userId ?? userId}") { cursor order { notes } } }`,
    'subscription { events { __typename } }',
  ];
  const streams = await Promise.all(
    texts.flatMap((query) =>
      transports.map(([, subscribe]) => subscribe({ url: lab.url, token: gatewayKey, query })),
    ),
  );
  await Promise.all(streams.slice(0, 2 * transports.length).map((stream) => stream.next()));
  await lab.query(`mutation { simulateOrder(id: "${moving?.orderId}") { __typename } }`);
  await Promise.all(streams.map((stream) => stream.next()));
  await Promise.all(streams.map((stream) => stream.close()));
}

/** A service that never answers, until the deadline. */
export async function waitInVain(stage: Stage): Promise<void> {
  const { lab, planted } = stage;
  const userId = crypto.randomUUID();
  lab.spoil({ at: new RegExp(userId), isDone: false, answer: silence, times: Number.POSITIVE_INFINITY });
  const comment = planted.text('comment');
  await query(
    stage,
    `mutation { createPortalUrl(input: { userId: "${userId}" }) { __typename } } # ${comment}`,
  );
}

/** The answers to another caller who asks for the same things, and for their own, over every transport. */
export async function askAsAnother(stage: Stage, token: string): Promise<readonly string[]> {
  const { lab, userId, orderId } = stage;
  const answers: string[] = [];
  for (const text of queriesAbout(stage)) {
    answers.push(JSON.stringify(await lab.query(text, { token })));
  }
  for (const [, subscribe] of transports) {
    for (const text of [
      `subscription { orderUpdates(orderId: "${orderId}") { order { id notes } } }`,
      `subscription { userOrderUpdates(userId: "${userId}") { order { id notes } } }`,
      'subscription { events { __typename } }',
    ]) {
      const stream = await subscribe({ url: lab.url, token, query: text });
      answers.push(JSON.stringify(await stream.next().catch((error: unknown) => error)));
      await stream.close();
    }
  }
  return answers;
}
