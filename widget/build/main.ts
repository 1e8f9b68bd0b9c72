import { buildModules } from './modules.ts';

/** Builds everything that is published: what pages load by its address, and the modules for bundlers. */
await import('./page.ts');
await buildModules();
