import type { BrowserContext, Page, Request, Response } from 'playwright';

/** Something that went between a browser and the world, or was seen in the browser. */
export interface Seen {
  readonly where:
    | 'address'
    | 'request header'
    | 'request body'
    | 'response header'
    | 'response body'
    | 'socket handshake'
    | 'socket sent'
    | 'socket received'
    | 'console'
    | 'page';
  readonly text: string;
}

/** Everything the pages of one browser context saw. */
export interface Recording {
  readonly seen: readonly Seen[];
  readonly add: (where: Seen['where'], text: string) => void;
  /** Where a text occurs, each place once. */
  readonly placesOf: (text: string) => readonly Seen['where'][];
  /** Errors and warnings of the console, and errors nobody caught; of every tab. */
  readonly complaints: readonly string[];
  /** Resolves when what has arrived has been read; then also holds what the open pages show. */
  readonly settle: () => Promise<void>;
}

/** Records from now on; pages that are open already are not seen. */
export function record(context: BrowserContext): Recording {
  const seen: Seen[] = [];
  const complaints: string[] = [];
  const reading: Promise<void>[] = [];
  const add: Recording['add'] = (where, text) => void seen.push({ where, text });

  context.on('request', (request) => {
    add('address', request.url());
    add('request body', request.postData() ?? '');
    reading.push(readRequest(request, add));
  });
  context.on('response', (response) => reading.push(readResponse(response, add)));
  context.on('console', (message) => {
    add('console', message.text());
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('page', (page) => recordSockets(page, add));

  return {
    seen,
    add,
    complaints,
    placesOf: (text) => [
      ...new Set(seen.filter((each) => each.text.includes(text)).map(({ where }) => where)),
    ],
    settle: async () => {
      for (const page of context.pages()) add('page', await readPage(page));
      await Promise.all(reading);
    },
  };
}

async function readRequest(request: Request, add: Recording['add']): Promise<void> {
  // A request of a page that has gone has no response to record.
  const headers = await request.allHeaders().catch(() => ({}));
  add('request header', JSON.stringify(headers));
}

async function readResponse(response: Response, add: Recording['add']): Promise<void> {
  const headers = await response.allHeaders().catch(() => ({}));
  add('response header', JSON.stringify(headers));
  const body = response.text().then(
    (text) => add('response body', text),
    () => {},
  );
  // The widget leaves the body of a 401 unread, and what nobody reads ends only with the request's time limit.
  if (response.status() !== 401) await body;
}

function recordSockets(page: Page, add: Recording['add']): void {
  page.on('websocket', (socket) => {
    add('address', socket.url());
    socket.on('framesent', ({ payload }) => add('socket sent', String(payload)));
    socket.on('framereceived', ({ payload }) => add('socket received', String(payload)));
  });
}

/** The page with all its shadow roots, as markup. */
export async function readPage(page: Page): Promise<string> {
  return page
    .evaluate(() => {
      const roots = [...document.querySelectorAll('*')].flatMap(({ shadowRoot }) => shadowRoot ?? []);
      return document.documentElement.getHTML({ shadowRoots: roots });
    })
    .catch(() => '');
}
