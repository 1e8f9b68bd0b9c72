import fc from 'fast-check';
import { type Header, often, seldom, usually } from './choices.ts';

/** Who may ask, and what about. */
export interface About {
  readonly host: string;
  readonly gatewayKey: string;
  readonly viewerToken: string;
  readonly origin: string;
  readonly orderId: string;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

export const methods = usually('POST', [
  ...words('GET GET GET HEAD PUT DELETE OPTIONS PATCH TRACE QUERY CONNECT post GeT PROPFIND NONSENSE'),
  '',
]);

export const versions = usually('HTTP/1.1', [
  ...words('HTTP/1.1 HTTP/1.1 HTTP/1.0 HTTP/1.0 HTTP/1.2 HTTP/2.0 HTP/1.1 http/1.1'),
  '',
]);

const query = encodeURIComponent('{ viewer { kind } }');

export const targets = usually('/graphql', [
  ...words(`/graphql?query=${query} /graphql?query=${query}&variables=%7B%7D&extensions=null
    /graphql?query=${query} /graphql?query=${query}&variables={ /graphql?query=${query}&operationName=A
    /graphql?query=mutation%7BcancelOrder(id:1)%7B__typename%7D%7D /graphql?query=%7Bunknown%7D /graphql?query=
    /graphql?query={__typename} /graphql?documentId=sha256:${'a'.repeat(64)} /graphql?% /graphql? /graphql#a
    /graphql/ //graphql /%67raphql /GRAPHQL /graphql;a=b /./graphql /a/../graphql /graphql%00 \\graphql /graphql\\
    graphql * http://elsewhere/graphql http:///graphql https://gateway:1/graphql?a=b http://a:b/graphql
    / /health /nothing /launch /documents/ticket /webhooks /widget/none.js /demo/token /gr\u00e4phql /graphql?a=\u00ff`),
  '/graphql a',
  'http://a b/graphql',
  '',
]);

const hosts = (host: string) =>
  often('Host', host, [
    [],
    [host, host],
    [host, 'other'],
    ['other', host],
    ...words(`localhost LOCALHOST:80 gateway.example.com a. a..b . - a_b 1.2.3.4 1.2.3 127.1 0x7f.1 1.2.3.4.5 999.1.1.1
      [::1] [::1]:80 [::1 [::g] [0:0:0:0:0:0:0:1] ::1 a: a:b a:0 a:00080 a:65535 a:65536 a:99999 a:1:2 user@a a/b a?b a#b
      a,b a;b ex%61mple % ex\u00e4mple xn--a xn-- <a> a\\b "a" {}`),
    '',
    'a b',
    'a\tb',
  ]);

const authorizations = ({ gatewayKey, viewerToken }: About) =>
  often('Authorization', `Bearer ${gatewayKey}`, [
    [],
    [`Bearer ${gatewayKey}`, 'Bearer wrong'],
    ['Bearer wrong', `Bearer ${gatewayKey}`],
    `Bearer ${viewerToken}`,
    `Bearer ${viewerToken}`,
    `Bearer ${viewerToken}=`,
    `Bearer ${viewerToken}A`,
    `Bearer ${viewerToken.replaceAll('.', '..')}`,
    `bearer ${gatewayKey}`,
    `Bearer  ${gatewayKey}`,
    `Bearer\t${gatewayKey}`,
    `Bearer ${gatewayKey} x`,
    `Bearer ${gatewayKey}, Bearer wrong`,
    `Bearer "${gatewayKey}"`,
    gatewayKey,
    '',
    'Bearer',
    'Basic x',
    'Bearer wrong',
    'Bearer \u00e4',
  ]);

const contentTypes = often('Content-Type', 'application/json', [
  [],
  ['application/json', 'text/plain'],
  ['application/json', 'application/json'],
  'application/json; charset=utf-8',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json; charset=utf-16',
  'application/json;a=b',
  'application/json ; charset=utf-8',
  'application/json;',
  'application/json,',
  'APPLICATION/JSON',
  'application/graphql',
  'application/graphql+json',
  'application/graphql-response+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'text/plain',
  'json',
  '',
]);

const accepts = seldom('Accept', [
  ...words(`*/* application/json application/graphql-response+json application/* text/* */json text/html
    text/event-stream multipart/mixed multipart/mixed image/png APPLICATION/JSON application/json;q=0 */*;q=0.1
    application/json,text/event-stream \u00e4`),
  ', application/json',
  'application/graphql-response+json, application/json;q=0.9',
  'application/json; charset=latin1',
  'a/b, */*',
  'text/html, application/json',
  'multipart/mixed, application/json',
  'application / json',
  '',
]);

const others = (origin: string) =>
  fc.tuple(
    seldom('Origin', [origin, 'https://evil.example', 'null', '', origin.toUpperCase(), `${origin}/`]),
    seldom('Connection', [
      'close',
      'close',
      'keep-alive',
      'Close',
      'KEEP-ALIVE',
      'close, x',
      'upgrade',
      '',
      'x',
    ]),
    seldom('Upgrade', ['h2c', 'HTTP/2.0', '']),
    seldom('Expect', ['100-continue', '100-Continue', 'x', '']),
    seldom('Last-Event-ID', ['x', '']),
    seldom('X-Labgraph-Trace', ['upstream', 'everything', 'UPSTREAM', '']),
    seldom('Traceparent', ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'x']),
    seldom('X-Request-Id', ['one', '']),
    seldom('Cookie', ['a=b', 'c=d; e=f']),
    seldom('X-Forwarded-For', ['203.0.113.1']),
    seldom('X-Http-Method-Override', ['GET', 'DELETE']),
    seldom('Accept-Encoding', ['gzip, br', 'identity;q=0', '*']),
    seldom('Access-Control-Request-Method', ['POST', 'PUT']),
    seldom('Access-Control-Request-Headers', ['authorization', 'x-other']),
    seldom('Keep-Alive', ['timeout=1', 'x']),
    seldom('__proto__', ['a', 'b']),
    seldom('Constructor', ['a']),
    seldom('X', ['', 'a'.repeat(2000), '\u00ff', ' a ', '"', '\t']),
  );

/** Every header but those that say how long the body is. */
export function headers(about: About): fc.Arbitrary<readonly Header[]> {
  return fc
    .tuple(hosts(about.host), authorizations(about), contentTypes, accepts, others(about.origin))
    .map(([host, authorization, type, accept, more]) => [host, authorization, type, accept, ...more].flat());
}

/** Seldom, a line that is no header, or not for every reader. */
const noHeaders = [
  'no colon',
  ': no name',
  ' folded: a',
  'a b: c',
  'X-A:\r\n folded',
  'X-\u00e4: a',
  'X: a\u0001b',
  'X: a\rb',
];
export const oddLines: fc.Arbitrary<readonly string[]> = fc.oneof(
  { weight: 30, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.constantFrom(...noHeaders).map((line) => [line]) },
);
