import { Directive, ElementRef, Input, inject } from '@angular/core';
import type { PortalGateway, PortalLaunch } from '@labgraph/widget';

@Directive({ selector: 'portal-gateway' })
export class PortalGatewayInputs {
  readonly #element = inject<ElementRef<PortalGateway>>(ElementRef).nativeElement;

  @Input() set endpoint(value: PortalGateway['endpoint']) {
    this.#element.endpoint = value;
  }
  @Input() set tokenProvider(value: PortalGateway['tokenProvider']) {
    this.#element.tokenProvider = value;
  }
}

@Directive({ selector: 'portal-launch' })
export class PortalLaunchInputs {
  readonly #element = inject<ElementRef<PortalLaunch>>(ElementRef).nativeElement;

  @Input() set orderId(value: PortalLaunch['orderId']) {
    this.#element.orderId = value;
  }
  @Input() set mode(value: PortalLaunch['mode']) {
    this.#element.mode = value;
  }
  @Input() set status(value: PortalLaunch['status']) {
    this.#element.status = value;
  }
}
