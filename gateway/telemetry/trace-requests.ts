import type { IncomingMessage } from 'node:http';
import { type Exchange, routeOf } from './access-log.ts';
import type { Span, Tracing } from './tracing.ts';

/** Starts the span of a request, as a part of the trace that its `traceparent` names. */
export function startRequest(tracing: Tracing, { method = '', url = '', headers }: IncomingMessage): Span {
  const route = routeOf(url);
  const { traceparent } = headers;
  return tracing.start(`${method} ${route}`, {
    kind: 'server',
    attributes: { 'http.request.method': method, 'http.route': route, 'url.scheme': 'http' },
    parent: typeof traceparent === 'string' ? traceparent : undefined,
  });
}

/** Traces a request until its answer has been sent or its client has left. */
export function traceAnswer(tracing: Tracing, { request, response, scope }: Exchange): void {
  const span = startRequest(tracing, request);
  scope.span = span;
  if (!span.isRecorded) return;
  response.once('close', () => {
    const { statusCode, headersSent } = response;
    if (headersSent) span.set({ 'http.response.status_code': statusCode });
    else span.fail('ABANDONED');
    if (statusCode >= 500) span.fail(String(statusCode));
    span.end();
  });
}
