import { defineConfig } from 'vite';
import { viewerTokens } from '../viewer-tokens.ts';

export default defineConfig({ plugins: [viewerTokens] });
