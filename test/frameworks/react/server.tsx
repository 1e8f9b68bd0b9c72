import { StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import type { AppProps } from '../page.ts';
import { App } from './app.tsx';

export const render = (props: AppProps): string =>
  renderToString(
    <StrictMode>
      <App {...props} />
    </StrictMode>,
  );
