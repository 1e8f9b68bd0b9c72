import { afterEach, expect, test, vi } from 'vitest';
import { isWebView } from '../../../widget/src/launch/launch-window.ts';

afterEach(() => vi.restoreAllMocks());

const android = 'Mozilla/5.0 (Linux; Android 15; Pixel 9';
const iPhone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const blink = 'AppleWebKit/537.36 (KHTML, like Gecko)';

test.each([
  `${android}; wv) ${blink} Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36`,
  `${android}; wv) ${blink} Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/530.0.0.0;]`,
  `${iPhone} Mobile/15E148`,
  `${iPhone} Mobile/15E148 Instagram 400.0.0.0 (iPhone16,2; iOS 18_6; en_US)`,
  mac,
])('%s is a WebView of an app', (userAgent) => {
  vi.spyOn(navigator, 'userAgent', 'get').mockReturnValue(userAgent);
  expect(isWebView()).toBe(true);
});

test.each([
  `Mozilla/5.0 (Linux; Android 10; K) ${blink} Chrome/140.0.0.0 Mobile Safari/537.36`,
  `Mozilla/5.0 (Linux; Android 10; K) ${blink} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
  'Mozilla/5.0 (Android 15; Mobile; rv:143.0) Gecko/143.0 Firefox/143.0',
  `${iPhone} Version/18.6 Mobile/15E148 Safari/604.1`,
  `${iPhone} CriOS/140.0.7339.95 Mobile/15E148 Safari/604.1`,
  `${iPhone} FxiOS/143.0 Mobile/15E148 Safari/605.1.15`,
  `${iPhone} Version/18.0 EdgiOS/140.0.3485.54 Mobile/15E148 Safari/604.1`,
  `${mac} Version/18.6 Safari/605.1.15`,
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`,
  `Mozilla/5.0 (X11; Linux x86_64) ${blink} Chrome/138.0.0.0 Electron/37.2.0 Safari/537.36`,
  'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
])('%s is a browser', (userAgent) => {
  vi.spyOn(navigator, 'userAgent', 'get').mockReturnValue(userAgent);
  expect(isWebView()).toBe(false);
});
