import '@labgraph/widget/define';
import { StrictMode } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { findRoot, readProps } from '../page.ts';
import { App } from './app.tsx';

hydrateRoot(
  findRoot(),
  <StrictMode>
    <App {...readProps()} />
  </StrictMode>,
);
