import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';
import { viewerTokens } from '../viewer-tokens.ts';

export default defineConfig({ plugins: [vue(), viewerTokens] });
