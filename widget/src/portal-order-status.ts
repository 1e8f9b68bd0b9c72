import { html } from 'lit';
import { PortalElement } from './portal-element.ts';
import { renderStatus } from './status-view.ts';

/**
 * An order's status, live.
 *
 * @element portal-order-status
 * @fires portal-status - the order changed
 * @fires portal-connection - how fresh the status is
 * @fires portal-error - cancel it to show the error yourself
 * @fires portal-token-request - when no `tokenProvider` is set
 * @slot empty - shown without an order
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

  protected override setStates(): void {
    super.setStates();
    this.setState('loading', this.phase === 'loading');
    this.setState('empty', this.phase === 'empty');
  }

  override render() {
    return html`<div part="status" class="status">${renderStatus(this.statusView())}<slot name="footer"></slot></div>`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'portal-order-status': PortalOrderStatus;
  }
}
