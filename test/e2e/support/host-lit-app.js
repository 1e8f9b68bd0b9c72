/** A part of the host page that is drawn by a Lit of its own, under a Trusted Types policy of its own. */
import { html, render } from '/lit.js';

render(html`<p>${'Drawn by Lit'}</p>`, document.body.appendChild(document.createElement('aside')));
