/** Registers `<portal-results>`, and with it its siblings. The built module `portal-results.js` is made of this file. */
import '../define.ts';
import { PortalGateway } from '../elements/portal-gateway.ts';
import { PortalResults } from './portal-results.ts';

// Where another copy has defined the siblings, it has said so: an element of this copy would not share their connection.
const isFirst =
  typeof customElements !== 'undefined' && customElements.get('portal-gateway') === PortalGateway;
if (isFirst && !customElements.get('portal-results')) customElements.define('portal-results', PortalResults);
