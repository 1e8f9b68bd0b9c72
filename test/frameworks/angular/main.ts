import '@labgraph/widget/define';
import { provideZonelessChangeDetection } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { App } from './app.ts';

document.querySelector('#app')?.append(document.createElement('app-order'));
bootstrapApplication(App, { providers: [provideZonelessChangeDetection()] }).catch(console.error);
