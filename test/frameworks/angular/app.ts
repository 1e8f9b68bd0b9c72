import { Component, CUSTOM_ELEMENTS_SCHEMA, signal } from '@angular/core';
import type { PortalErrorReport } from '@labgraph/widget';
import { getPortalToken, readProps } from '../page.ts';
import { PortalGatewayInputs, PortalLaunchInputs } from './portal-inputs.ts';

@Component({
  selector: 'app-order',
  imports: [PortalGatewayInputs, PortalLaunchInputs],
  schemas: [CUSTOM_ELEMENTS_SCHEMA],
  template: `
    <portal-gateway [endpoint]="props.endpoint" [attr.portal-origins]="props.portalOrigins" [tokenProvider]="getPortalToken">
      <portal-launch
        #launch
        id="launch"
        class="wide"
        title="Your order"
        aria-label="Your order"
        data-order="first"
        [orderId]="props.orderId"
        status="text"
        (portal-status)="label.set($event.detail.order.status.label)"
        (portal-error)="report($event.detail, launch.phase)"
      >
        <span>Open my results</span>
        <a slot="error" href="/help">Ask us</a>
      </portal-launch>
      <portal-order-status [attr.order-id]="props.orderId" status="steps" lang="en" />
      <output>{{ label() }}</output>
    </portal-gateway>
  `,
})
export class App {
  readonly props = readProps();
  readonly getPortalToken = getPortalToken;
  readonly label = signal('');

  report({ code }: PortalErrorReport, phase: string): void {
    console.info(code, phase);
  }
}
