import { Hono } from 'hono';
import { refuse } from '../http/refusal.ts';
import { requireOrder } from '../http/require.ts';
import { readUuid } from '../http/validation.ts';
import type { Order } from '../orders/order.ts';
import { presentMetadata, presentResults } from '../results/result.ts';
import type { SandboxEnv, Service } from '../service.ts';
import type { World } from '../world/world.ts';

/** Text as a PDF string: ASCII only, with its three special characters escaped. */
function pdfText(line: string): string {
  return line.replace(/[^\x20-\x7e]/g, '?').replace(/[\\()]/g, (character) => `\\${character}`);
}

/** One page with these lines of text, as a complete PDF 1.4 file. */
function createPdf(lines: readonly string[]): Buffer {
  const text = lines.map((line) => `(${pdfText(line)}) Tj T*`).join('\n');
  const content = `BT /F1 12 Tf 16 TL 56 780 Td\n${text}\nET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file + table + trailer, 'latin1');
}

/** @throws Refusal 404 in the words of the public service, before there are results */
function requireResult<Part>(part: Part | null): Part {
  if (part === null)
    throw refuse(404, 'There are no results for this order yet. Have you had a webhook for it?');
  return part;
}

function resultPdf(world: World, order: Order): Buffer {
  const { metadata, results } = requireResult(presentResults(world, order));
  const rows = results.map(
    ({ name, result, unit, reference_range: range }) =>
      `${name}: ${result} ${unit ?? ''} ${range === null ? '' : `(${range})`}`,
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
    c.json(requireResult(presentResults(world, requireOrder(world, readUuid(c, 'order_id'))))),
  );

  routes.get('/v3/order/:order_id/result/metadata', (c) =>
    c.json(requireResult(presentMetadata(world, requireOrder(world, readUuid(c, 'order_id'))))),
  );

  routes.get('/v3/order/:order_id/result/pdf', (c) =>
    answerPdf(resultPdf(world, requireOrder(world, readUuid(c, 'order_id')))),
  );

  routes.get('/v3/order/:order_id/requisition/pdf', (c) =>
    answerPdf(requisitionPdf(requireOrder(world, readUuid(c, 'order_id')))),
  );

  return routes;
}
