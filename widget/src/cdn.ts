/** The built module `portal-widget.js`: everything in one file, defined at once. */
import './define.ts';

// biome-ignore-start lint/performance/noBarrelFile: what `portal-results.js` shares with this module (decision 0100)
export { html, nothing, unsafeCSS } from 'lit';
export { announce } from './announcer.ts';
// For a host that makes its own client, too.
export { createPortalClient } from './client.ts';
export { isRetryable, PortalError, toPortalError } from './errors.ts';
export { readFields, readText } from './fields.ts';
export { MASKED, setMarks } from './masks.ts';
export { OrderElement } from './order-element.ts';
export { DEFAULT_POLL_SECONDS } from './poll-interval.ts';
export { PortalGateway } from './portal-gateway.ts';
export { drawError } from './status-view.ts';
export { formatTime } from './times.ts';
export { WAIT_LIMIT_MS } from './token.ts';
// biome-ignore-end lint/performance/noBarrelFile: what `portal-results.js` shares with this module (decision 0100)
