import '@labgraph/widget/define';
import { createApp } from 'vue';
import { findRoot, readProps } from '../page.ts';
import App from './App.vue';

createApp(App, { ...readProps() }).mount(findRoot());
