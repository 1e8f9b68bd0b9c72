import { html } from 'lit';
import type { Drawing } from '../elements/drawing.ts';
import { PortalElement } from './portal-element.ts';
import { drawStatus } from './status-view.ts';

/**
 * An order's status, live.
 * Its public interface is in build/contract.ts.
 */
export class PortalOrderStatus extends PortalElement {
  /** `empty` without an order, `loading` until the first status, then `ready`; `failed` while an error is shown instead. */
  get phase(): 'empty' | 'loading' | 'ready' | 'failed' {
    if (this.order) return 'ready';
    if (this.shownError('status')) return 'failed';
    return this.orderId ? 'loading' : 'empty';
  }

  protected override get shownStatus(): 'none' | 'text' | 'steps' {
    return this.status === 'steps' || this.status === 'none' ? this.status : 'text';
  }

  protected override readStates(): readonly (string | null)[] {
    return [...super.readStates(), this.phase];
  }

  protected override drawing(): Drawing {
    return html`<div class="status" part="status">${drawStatus(this.statusView())}<slot name="footer"></slot></div>`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'portal-order-status': PortalOrderStatus;
  }
}
