import { Hono } from 'hono';
import { refuse } from '../http/refusal.ts';
import { readUuid } from '../http/validation.ts';
import type { Order } from '../orders/order.ts';
import { createPdf } from '../results/pdf.ts';
import { presentMetadata, presentResults } from '../results/result.ts';
import type { SandboxEnv, Service } from '../service.ts';
import type { World } from '../world/world.ts';
import { requireOrder } from './orders/orders.ts';

/** What is there, else the public service's answer before results. */
function require<Part>(part: Part | null): Part {
  if (part === null)
    throw refuse(404, 'There are no results for this order yet. Have you had a webhook for it?');
  return part;
}

function resultPdf(world: World, order: Order): Buffer {
  const { metadata, results } = require(presentResults(world, order));
  const rows = results.map(
    ({ name, result, unit, reference_range }) => `${name}: ${result} ${unit ?? ''} (${reference_range})`,
  );
  const head = ['Laboratory report', 'Invented by the sandbox: not a medical document.', ''];
  return createPdf([...head, `${metadata.laboratory}, ${metadata.status}`, '', ...rows]);
}

function requisitionPdf(order: Order): Buffer {
  if (order.requisitionFormUrl === null) throw refuse(404, 'There is no requisition for this order yet.');
  const head = ['Requisition', 'Invented by the sandbox: not a medical document.', ''];
  return createPdf([...head, `Sample ${order.sampleId ?? 'not taken yet'}`]);
}

function answerPdf(pdf: Buffer): Response {
  return new Response(new Uint8Array(pdf), {
    headers: { 'content-type': 'application/pdf', 'content-length': String(pdf.length) },
  });
}

/** Results of orders as JSON and as PDF, and requisitions (public service: order results). */
export function resultRoutes({ world }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.get('/v3/order/:order_id/result', (c) =>
    c.json(require(presentResults(world, requireOrder(world, readUuid(c, 'order_id'))))),
  );

  routes.get('/v3/order/:order_id/result/metadata', (c) =>
    c.json(require(presentMetadata(world, requireOrder(world, readUuid(c, 'order_id'))))),
  );

  routes.get('/v3/order/:order_id/result/pdf', (c) =>
    answerPdf(resultPdf(world, requireOrder(world, readUuid(c, 'order_id')))),
  );

  routes.get('/v3/order/:order_id/requisition/pdf', (c) =>
    answerPdf(requisitionPdf(requireOrder(world, readUuid(c, 'order_id')))),
  );

  return routes;
}
