import '@labgraph/widget/define';
import { mount } from 'svelte';
import { findRoot, readProps } from '../page.ts';
import App from './App.svelte';

mount(App, { target: findRoot(), props: readProps() });
