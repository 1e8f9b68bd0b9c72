import { html, nothing, type PropertyValues, unsafeCSS } from 'lit';
import { type Drawing, drawError } from '../elements/drawing.ts';
import { OrderElement } from '../elements/order-element.ts';
import { toPortalError } from '../gateway/errors.ts';
import { WAIT_LIMIT_MS } from '../gateway/token.ts';
import { announce } from '../page/announcer.ts';
import { MASKED, setMarks } from '../page/masks.ts';
import type { Strings } from '../words/strings.ts';
import { formatTime } from '../words/times.ts';
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
export class PortalResults extends OrderElement {
  static override styles = [OrderElement.styles, unsafeCSS(styles)];

  readonly #reader = new ResultsReader({
    resultsChanged: (results, previous) => this.#resultsChanged(results, previous),
    resultsFailed: (error) => this.readFailed(error, 'results'),
  });
  #report: ReportState | null = null;

  /** `empty` without an order, `loading` until the first answer, `none` before there are results, then `ready`; or `failed`. */
  get phase(): 'empty' | 'loading' | 'none' | 'ready' | 'failed' {
    const { results } = this.#reader;
    if (results) return 'ready';
    if (this.shownError('status') || this.shownError('results')) return 'failed';
    if (!this.orderId) return 'empty';
    return results === null ? 'none' : 'loading';
  }

  /** Reads the order and its results once, now. Never rejects. */
  override async refresh(): Promise<void> {
    await super.refresh();
    // Before it is in the page an element never updates.
    if (this.isConnected) await this.updateComplete;
    await this.#reader.read();
  }

  /** Retries after a failure. Never rejects. */
  override async retry(): Promise<void> {
    this.endFailure('results');
    await super.retry();
    await this.#reader.read();
  }

  protected override left(): void {
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
    return [...super.readStates(), this.phase, isPartial ? 'partial' : null];
  }

  protected override aimChanged(): void {
    super.aimChanged();
    this.endFailure('results');
    this.#report = null;
  }

  protected override willUpdate(): void {
    super.willUpdate();
    this.#reader.want(this.#readResultsWish());
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
      return html`<div class="empty" part="empty"><slot name="none">${this.#readNone(resultTexts)}</slot></div>`;
    return html`<slot name="loading">${drawResultsSkeleton(resultTexts.loading)}</slot>`;
  }

  /** The text for an order without results. If the order has ended, it says that there will be none. */
  #readNone({ none, ended }: ResultStrings): string {
    const { isTerminal = false, step = null } = this.order?.status ?? {};
    if (!isTerminal || WITH_RESULTS.includes(step)) return none;
    return `${ended} ${this.texts.next[step ?? ''] ?? ''}`;
  }

  /** Downloads are asked for one at a time. The button stays focused while the ticket is on its way. */
  #drawReport(texts: ResultStrings): Drawing {
    const report = this.#report;
    const isOpening = report === 'documentOpening';
    return html`
      <div class="report" part="report">
        <button class="retry download" part="download" type="button" aria-disabled=${isOpening ? 'true' : nothing} @click=${() => this.#openReport()}>${texts.document}</button>
        ${report ? html`<p class="note" part="note">${this.#readReport(report)}</p>` : nothing}
      </div>`;
  }

  /** After an ended sign-in, another try alone does not help. */
  #readReport(report: ReportState): string {
    const { errors, results } = this.texts;
    const isSignedOut = report === 'documentFailed' && this.lastError?.code === 'UNAUTHENTICATED';
    return (isSignedOut && errors.UNAUTHENTICATED) || { ...english, ...results }[report];
  }

  /** Said only while the results on screen may be older than the laboratory's. */
  #drawFreshness(): Drawing {
    const { connection, texts, language } = this;
    if (!this.#reader.results || (connection !== 'stale' && connection !== 'offline')) return nothing;
    const time = formatTime(this.confirmedAt, language);
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
    // After a change of the order or person this report is not wanted.
    if (aim === this.aim) this.#setReport(state);
  }

  #setReport(state: ReportState | null): void {
    this.#report = state;
    if (state) announce(this, this.#readReport(state), this.language);
    this.requestUpdate();
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
    this.endFailure('results');
    this.requestUpdate();
    const { changed, here, partlyHere } = { ...english, ...this.texts.results };
    if (previous === undefined || !results || JSON.stringify(results) === JSON.stringify(previous)) return;
    const arrived = results.head.completeness === 'partial' ? partlyHere : here;
    announce(this, previous ? changed : arrived, this.language);
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'portal-results': PortalResults;
  }
}
