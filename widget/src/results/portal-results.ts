import { html, nothing, type PropertyValues, unsafeCSS } from 'lit';
import { announce } from '../announcer.ts';
import { ClientElement } from '../client-element.ts';
import { PortalError, toPortalError } from '../errors.ts';
import { type ConnectionState, emit } from '../events.ts';
import { MASKED, setMarks } from '../masks.ts';
import type { PortalOrder } from '../order.ts';
import type { OrderFeed } from '../order-feed.ts';
import { createOrderWatch, type WatchWish } from '../order-watch.ts';
import { DEFAULT_POLL_SECONDS } from '../poll-interval.ts';
import { type Drawing, drawError } from '../status-view.ts';
import type { Strings } from '../strings.ts';
import { formatTime } from '../times.ts';
import { WAIT_LIMIT_MS } from '../token.ts';
import { download, requestReport } from './report.ts';
import styles from './results.css?inline';
import type { Results } from './results.ts';
import { ResultsReader, type ResultsWish } from './results-reader.ts';
import { drawFull, drawMinimal, drawResultsSkeleton } from './results-view.ts';
import { english, type ResultStrings } from './strings.ts';

/** Steps of an order at which it has results. */
const WITH_RESULTS: readonly (string | null)[] = ['PARTIAL_RESULTS', 'COMPLETED', 'CORRECTED'];

/** What the button of the report is doing, by the text that says so. */
type ReportState = 'documentOpening' | 'documentOpened' | 'documentNotReady' | 'documentFailed';

/**
 * The results of one order, live.
 * Its public interface is in build/contract.ts.
 */
export class PortalResults extends ClientElement {
  static override styles = [ClientElement.styles, unsafeCSS(styles)];

  readonly #reader = new ResultsReader({
    resultsChanged: (results, previous) => this.#resultsChanged(results, previous),
    resultsFailed: (error) => this.#failed(error, 'results'),
  });
  readonly #watch = createOrderWatch(this, {
    orderChanged: (change) => {
      this.#endFailure('status');
      this.requestUpdate();
      if (change.order !== change.previous) emit(this, 'portal-status', change);
    },
    connectionChanged: (connection, previous) => {
      this.requestUpdate();
      emit(this, 'portal-connection', { connection, previous });
    },
    orderFailed: (error) => this.#failed(error, 'status'),
  });
  /** The code of the last failure of each kind: a repeated one is reported once, until it works again. */
  readonly #failing = new Map<'status' | 'results', string>();
  #leave: (() => void) | null = null;
  #isPaused = false;
  #shown = '';
  #report: ReportState | null = null;

  /** The order whose results are shown, or null. */
  get order(): PortalOrder | null {
    return this.#watch.order();
  }

  get connection(): ConnectionState {
    return this.#watch.connection();
  }

  /** `empty` without an order, `loading` until the first answer, `none` before there are results, then `ready`; or `failed`. */
  get phase(): 'empty' | 'loading' | 'none' | 'ready' | 'failed' {
    const { results } = this.#reader;
    if (results) return 'ready';
    if (this.shownError('status') || this.shownError('results')) return 'failed';
    if (!this.orderId) return 'empty';
    return results === null ? 'none' : 'loading';
  }

  /** Reads the order and its results once, now. Never rejects. */
  async refresh(): Promise<void> {
    if (this.isConnected) await this.updateComplete;
    await this.#watch.refresh();
    await this.updateComplete;
    await this.#reader.read();
  }

  /** Retries after a failure. Never rejects. */
  async retry(): Promise<void> {
    this.#endFailure('status');
    this.#endFailure('results');
    await this.#watch.retry();
    await this.#reader.read();
  }

  /** Stops following the order until `resume()`. */
  pause(): void {
    this.#isPaused = true;
    this.requestUpdate();
  }

  resume(): void {
    this.#isPaused = false;
    this.requestUpdate();
  }

  protected override entered(): void {
    super.entered();
    this.#leave = this.#watch.connect();
  }

  protected override left(): void {
    this.#leave?.();
    this.#reader.want(null);
    super.left();
  }

  protected override get texts(): Strings {
    const { errors, ...texts } = super.texts;
    const { notAllowed } = { ...english, ...texts.results };
    return { ...texts, errors: { SCOPE_MISSING: notAllowed, ...errors } };
  }

  protected override readStates(): readonly (string | null)[] {
    const isPartial = this.#reader.results?.head.completeness === 'partial';
    return [...super.readStates(), this.connection, this.phase, isPartial ? 'partial' : null];
  }

  protected override willUpdate(): void {
    const { aim, live } = this;
    if (aim !== this.#shown) {
      this.#endFailure('status');
      this.#endFailure('results');
      this.#report = null;
    }
    this.#shown = aim;
    const wish = this.#readWatchWish();
    this.#watch.want(wish);
    this.#reader.want(this.#readResultsWish());
    // Listeners of the page may have set a property meanwhile, and Lit does not update again for that.
    if (aim !== this.aim || live !== this.live || wish.feed !== this.#readFeed()) this.willUpdate();
  }

  protected override update(changed: PropertyValues): void {
    super.update(changed);
    // Also with all details: values of a person's health belong in no recording.
    const frame = this.renderRoot.querySelector('.frame');
    if (frame) setMarks(frame, MASKED, true);
  }

  protected override drawing(): Drawing {
    return html`
      <div class="results" part="results">
        ${this.#drawContent()}${this.#drawFreshness()}<slot name="footer"></slot>
      </div>`;
  }

  #drawContent(): Drawing {
    const { texts, language, order } = this;
    const { results } = this.#reader;
    const resultTexts: ResultStrings = { ...english, ...texts.results };
    const view = { texts: resultTexts, language };
    const failure = this.shownError('status') ?? this.shownError('results');
    const error = failure ? drawError(failure, { texts, retry: () => void this.retry() }) : nothing;
    if (results?.details) {
      const name = order?.testName;
      return html`
        ${error}${name ? html`<p class="test-name" part="test-name"><bdi>${name}</bdi></p>` : nothing}
        ${drawFull(results.head, results.details, view)}${this.#drawReport(resultTexts)}`;
    }
    if (results) return html`${error}${drawMinimal(results, view)}`;
    if (failure) return error;
    if (!this.orderId)
      return html`<div class="empty" part="empty"><slot name="empty">${texts.empty}</slot></div>`;
    if (results === null)
      return html`<div class="empty" part="empty"><slot name="none">${resultTexts.none}</slot></div>`;
    return html`<slot name="loading">${drawResultsSkeleton(resultTexts.loading)}</slot>`;
  }

  /** Downloads are asked for one at a time. The button stays focused while the ticket is on its way. */
  #drawReport(texts: ResultStrings): Drawing {
    const report = this.#report;
    const isOpening = report === 'documentOpening';
    return html`
      <div class="report" part="report">
        <button class="retry download" part="download" type="button" aria-disabled=${isOpening ? 'true' : nothing} @click=${() => this.#openReport()}>${texts.document}</button>
        ${report ? html`<p class="note" part="note">${texts[report]}</p>` : nothing}
      </div>`;
  }

  /** Said only while the results on screen may be older than the laboratory's. */
  #drawFreshness(): Drawing {
    const { connection, texts, language } = this;
    if (!this.#reader.results || (connection !== 'stale' && connection !== 'offline')) return nothing;
    const time = formatTime(this.#watch.confirmedAt(), language);
    const text = texts.freshness[connection].replace('{time}', () => time);
    return html`<p class="freshness ${connection}" part="freshness">${text}</p>`;
  }

  async #openReport(): Promise<void> {
    const { orderId, aim } = this;
    if (!orderId || this.#report === 'documentOpening') return;
    this.#setReport('documentOpening');
    let state: ReportState = 'documentFailed';
    try {
      const url = await requestReport(this.getClient(), orderId, AbortSignal.timeout(WAIT_LIMIT_MS));
      if (aim === this.aim && this.isConnected) {
        if (url) download(url);
        state = url ? 'documentOpened' : 'documentNotReady';
      }
    } catch (cause) {
      this.fail(toPortalError(cause, 'NETWORK'), null);
    }
    // Another order: its report was not asked for.
    this.#setReport(aim === this.aim ? state : null);
  }

  #setReport(state: ReportState | null): void {
    this.#report = state;
    if (state) announce(this, { ...english, ...this.texts.results }[state]);
    this.requestUpdate();
  }

  #readWatchWish(): WatchWish {
    const { live } = this;
    return {
      feed: this.#readFeed(),
      live,
      isPaused: this.#isPaused,
      pollIntervalSeconds: DEFAULT_POLL_SECONDS,
    };
  }

  /** Null while there is nothing to follow, or not enough to follow it. */
  #readFeed(): OrderFeed | null {
    const { orderId } = this;
    if (!orderId || !this.isEndpointDue) return null;
    try {
      return this.getClient().feed(orderId, this.privacy === 'full');
    } catch (cause) {
      if (!(cause instanceof PortalError)) throw cause;
      this.#failed(cause, 'status');
      return null;
    }
  }

  /** The results are read for an order that has been read: then it is there, and its state is known. */
  #readResultsWish(): ResultsWish | null {
    const { order, orderId } = this;
    if (!order || !orderId) return null;
    const { events, status } = order;
    return {
      client: this.getClient(),
      orderId,
      isFull: this.privacy === 'full',
      version: `${events.at(-1)?.id} ${status.raw}`,
      areExpected: WITH_RESULTS.includes(status.step),
      isFollowed: this.connection !== 'idle' && this.connection !== 'closed',
    };
  }

  #resultsChanged(results: Results | null, previous: Results | null | undefined): void {
    this.#endFailure('results');
    this.requestUpdate();
    const { changed, here, partlyHere } = { ...english, ...this.texts.results };
    if (previous === undefined || !results || stateOf(results) === stateOf(previous)) return;
    const arrived = results.head.completeness === 'partial' ? partlyHere : here;
    announce(this, previous ? changed : arrived);
  }

  #failed(error: PortalError, place: 'status' | 'results'): void {
    if (this.#failing.get(place) === error.code) return;
    this.#failing.set(place, error.code);
    // An order that is known stays: how old it is is shown.
    this.fail(error, place === 'status' && this.order ? null : place);
    this.requestUpdate();
  }

  #endFailure(place: 'status' | 'results'): void {
    this.#failing.delete(place);
    this.hideError(place);
  }
}

function stateOf(results: Results | null): string {
  return `${results?.head.completeness} ${results?.head.isCorrected}`;
}

declare global {
  interface HTMLElementTagNameMap {
    'portal-results': PortalResults;
  }
}
