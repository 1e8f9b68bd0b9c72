import babel from '@rolldown/plugin-babel';
import { defineConfig } from 'vite';
import { viewerTokens } from '../viewer-tokens.ts';

/** Relay's plugin for Babel puts what `relay-compiler` made in place of each graphql`…`. */
export default defineConfig({ plugins: [babel({ plugins: ['relay'] }), viewerTokens] });
