import { type Child, h } from './dom.ts';
import { PortalElement } from './portal-element.ts';
import { drawSlot, drawStatus } from './status-view.ts';

/**
 * An order's status, live.
 *
 * @element portal-order-status
 * @fires portal-status - the order changed
 * @fires portal-connection - how fresh the status is
 * @fires portal-error - cancel it to show the error yourself
 * @fires portal-token-request - when no `tokenProvider` is set
 * @slot empty - shown without an order
 * @slot loading - shown until the first status is there
 * @slot offline - replaces the text of the age while offline
 * @slot error - replaces the text of every error; `error-<code>` that of one
 * @slot footer - below the status
 */
export class PortalOrderStatus extends PortalElement {
  /** `empty` without an order, `loading` until the first status, then `ready`; `failed` while an error stands instead. */
  get phase(): 'empty' | 'loading' | 'ready' | 'failed' {
    if (this.order) return 'ready';
    if (this.shownError) return 'failed';
    return this.orderId ? 'loading' : 'empty';
  }

  protected override get shownStatus(): 'none' | 'text' | 'steps' {
    return this.status === 'steps' || this.status === 'none' ? this.status : 'text';
  }

  protected override readStates(): readonly (string | null)[] {
    return [...super.readStates(), this.phase];
  }

  protected override drawing(): readonly Child[] {
    return [h('div', 'status', {}, ...drawStatus(this.statusView()), drawSlot('footer', null))];
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'portal-order-status': PortalOrderStatus;
  }
}
