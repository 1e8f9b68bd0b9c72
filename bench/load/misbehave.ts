import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** How a service fails that is there; one that is away does not listen, or is stopped as a process. */
export const faults = ['failing', 'slow', 'cut', 'garbled'] as const;
export type Fault = (typeof faults)[number];

const slowMs = 400;

/** Answers as a service does that has this fault; false where it only lets wait. */
export async function misbehave(fault: Fault, response: ServerResponse): Promise<boolean> {
  if (fault === 'slow') {
    await wait(slowMs);
    return false;
  }
  if (fault === 'failing') {
    response.writeHead(503, { 'content-type': 'application/json' }).end('{"detail":"Try again later."}');
  } else if (fault === 'garbled') {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"orders":[{"id":');
  } else {
    // Promises more than it sends.
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"half":', () => response.socket?.destroy());
  }
  return true;
}
