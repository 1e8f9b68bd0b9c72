import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { Builder, type WebDriver, type WebElement } from 'selenium-webdriver';
import { findFreePort } from '../../support/listening.ts';
import { findWebKitDriver, findXvfb } from '../../support/tools.ts';
import { type Browser, findControl, type Tab } from './browser.ts';

/** WebKitGTK's MiniBrowser, over WebDriver and on a display of its own. Its driver has one visit at a time. */
export async function startWebKit(): Promise<Browser> {
  const display = await startDisplay();
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { ...process.env, DISPLAY: display.name };
  const driver = start(findWebKitDriver(), ['--host=127.0.0.1', `--port=${port}`], { env, stdio: 'ignore' });
  await untilAnswering(url);
  return {
    version: await readVersion(url),
    visit: async (address) => {
      const session = await openSession(url);
      await session.get(address);
      return toTab(session, await session.getWindowHandle());
    },
    [Symbol.asyncDispose]: async () => {
      await end(driver);
      await end(display.server);
    },
  };
}

async function startDisplay(): Promise<{ readonly name: string; readonly server: ChildProcess }> {
  // It prints the number of its display to the fourth stream.
  const server = start(findXvfb(), ['-displayfd', '3', '-screen', '0', '1280x1024x24'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [, , , output] = server.stdio;
  if (!(output && 'read' in output)) throw new Error('The X server has no output.');
  const [number] = await once(createInterface({ input: output }), 'line');
  return { name: `:${number}`, server };
}

function start(file: string | null, args: readonly string[], options: SpawnOptions): ChildProcess {
  if (file === null) throw new Error('WebKitGTK is tested with WebKitWebDriver and Xvfb. Install both.');
  const child = spawn(file, args, options);
  // Also when the test run itself is broken off.
  const killWithUs = () => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

/** The driver does not say when it listens. */
async function untilAnswering(url: string): Promise<void> {
  const signal = AbortSignal.timeout(30_000);
  while (!(await fetch(`${url}/status`, { signal }).catch(() => null))?.ok) await wait(50, null, { signal });
}

function openSession(url: string): Promise<WebDriver> {
  return new Builder().usingServer(url).withCapabilities({ browserName: 'MiniBrowser' }).build();
}

async function readVersion(url: string): Promise<string> {
  const session = await openSession(url);
  const capabilities = await session.getCapabilities();
  await session.quit();
  return capabilities.get('browserVersion');
}

function toTab(session: WebDriver, handle: string): Tab {
  const inTab = async <Value>(act: () => Promise<Value>): Promise<Value> => {
    await session.switchTo().window(handle);
    return await act();
  };
  return {
    click: (text) =>
      inTab(async () => {
        const script = `return ${findControl(text)}`;
        const control = await session.wait(() => session.executeScript<WebElement | null>(script), 25_000);
        await control?.click();
      }),
    read: (expression) => inTab(() => session.executeScript(`return ${expression}`)),
    goBack: () => inTab(() => session.navigate().back()),
    otherTabs: async () => {
      const handles = await session.getAllWindowHandles();
      return handles.filter((other) => other !== handle).map((other) => toTab(session, other));
    },
    [Symbol.asyncDispose]: () => session.quit(),
  };
}
