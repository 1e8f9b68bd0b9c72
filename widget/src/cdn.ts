/** The built module `portal-widget.js`: everything in one file, defined at once. */
import './define.ts';

// biome-ignore lint/performance/noBarrelFile: the module's only exports, for a host that makes its own client
export { createPortalClient } from './client.ts';
