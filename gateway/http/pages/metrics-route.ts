import { Hono } from 'hono';
import type { Metrics } from '../../metrics.ts';
import { secure } from '../headers.ts';

export type ShownMetrics = Pick<Metrics, 'text' | 'contentType'>;

/** Adds `GET /metrics`. */
export function addMetrics(app: Hono, { text, contentType }: ShownMetrics): void {
  app.get('/metrics', async (context) => context.body(await text(), 200, { 'content-type': contentType }));
}

/** Routes for a separate address that serves only metrics. */
export function createMetricsRoutes(metrics: ShownMetrics): Hono {
  const app = new Hono().use(secure());
  addMetrics(app, metrics);
  return app;
}
