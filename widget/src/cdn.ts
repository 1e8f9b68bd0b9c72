/** The built module `portal-widget.js`: everything in one file, defined at once. */
import './define.ts';

// biome-ignore-start lint/performance/noBarrelFile: what `portal-results.js` shares with this module (decision 0100)
export { html, nothing, unsafeCSS } from 'lit';
// For a host that makes its own client, too.
export { createPortalClient } from './client/client.ts';
export { drawError } from './elements/drawing.ts';
export { OrderElement } from './elements/order-element.ts';
export { PortalGateway } from './elements/portal-gateway.ts';
export { parseAddress } from './gateway/addresses.ts';
export { isRetryable, PortalError, toPortalError } from './gateway/errors.ts';
export { readFields, readText } from './gateway/fields.ts';
export { toErrorCode } from './gateway/gateway-error.ts';
export { WAIT_LIMIT_MS, withinLimit } from './gateway/token.ts';
export { announce } from './page/announcer.ts';
export { MASKED, setMarks } from './page/masks.ts';
export { inLanguage } from './words/language.ts';
export { formatTime } from './words/times.ts';
// biome-ignore-end lint/performance/noBarrelFile: what `portal-results.js` shares with this module (decision 0100)
