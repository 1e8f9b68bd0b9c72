import { Component, CUSTOM_ELEMENTS_SCHEMA } from '@angular/core';
import { PortalGatewayInputs, PortalLaunchInputs } from './portal-inputs.ts';

@Component({
  selector: 'app-wrong',
  imports: [PortalGatewayInputs, PortalLaunchInputs],
  schemas: [CUSTOM_ELEMENTS_SCHEMA],
  template: `
    <portal-launch mode="popup" />
    <portal-launch [status]="'sometimes'" />
    <portal-launch [orderId]="1" />
    <portal-launch #launch (portal-error)="report($event.detail.url)" />
    <portal-launch (portal-launched)="launch.order = null" />
    <portal-gateway tokenProvider="token" />
  `,
})
export class Wrong {
  report(_code: string): void {}
}
