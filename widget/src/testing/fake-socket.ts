/** Reports of a fake socket to the gateway behind it. */
export interface SocketServer {
  accepts(socket: FakeSocket): boolean;
  received(socket: FakeSocket, message: Readonly<Record<string, unknown>>): void;
}

/** A WebSocket whose other end is a script. */
export class FakeSocket {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;
  readonly url: string;
  readyState: number = FakeSocket.CONNECTING;
  closedWith: number | null = null;
  onopen: ((event: Event) => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onerror: ((event: Event) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  readonly #server: SocketServer;

  constructor(url: string, server: SocketServer) {
    this.url = url;
    this.#server = server;
    queueMicrotask(() => this.#open());
  }

  /** From the widget to the gateway. */
  send(text: string): void {
    const message = JSON.parse(text) as Record<string, unknown>;
    queueMicrotask(() => this.#server.received(this, message));
  }

  /** The widget hangs up; the gateway answers. */
  close(code = 1000): void {
    if (this.readyState >= FakeSocket.CLOSING) return;
    this.readyState = FakeSocket.CLOSING;
    this.closedWith = code;
    queueMicrotask(() => this.fall(code));
  }

  /** From the gateway to the widget. */
  say(message: Readonly<Record<string, unknown>>): void {
    if (this.readyState === FakeSocket.OPEN) this.onmessage?.({ data: JSON.stringify(message) });
  }

  /** The gateway, or the network, hangs up. */
  fall(code: number): void {
    if (this.readyState === FakeSocket.CLOSED) return;
    this.readyState = FakeSocket.CLOSED;
    if (code === 1006) this.onerror?.(new Event('error'));
    this.onclose?.({ code, reason: '' });
  }

  #open(): void {
    if (this.readyState !== FakeSocket.CONNECTING) return;
    if (!this.#server.accepts(this)) {
      this.fall(1006);
      return;
    }
    this.readyState = FakeSocket.OPEN;
    this.onopen?.(new Event('open'));
  }
}
