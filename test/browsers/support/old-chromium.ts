import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { chromium } from 'playwright';
import { installLocked } from '../../../bench/support/install.ts';
import type { Browser } from './browser.ts';
import { toBrowser } from './chromium.ts';

const folder = new URL('../old/', import.meta.url);
const packed = new URL('node_modules/@sparticuz/chromium/bin/', folder);
const unpacked = new URL('node_modules/.chromium/', folder);

/** The oldest Chromium in which the widget must work (docs/embedding.md), as npm has it: without a blocker of tabs. */
export async function startOldChromium(): Promise<Browser> {
  installLocked(folder);
  const executablePath = fileURLToPath(new URL('chromium', unpacked));
  if (!existsSync(executablePath)) unpack(executablePath);
  const args = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader'];
  return toBrowser(await chromium.launch({ executablePath, args }));
}

/** Beside the package: its own way is into the system's folder of temporary files, where any file of that name would be run. */
function unpack(executablePath: string): void {
  const read = (file: string) => brotliDecompressSync(readFileSync(new URL(file, packed)));
  mkdirSync(unpacked, { recursive: true });
  execFileSync('tar', ['-x', '-C', fileURLToPath(unpacked)], { input: read('swiftshader.tar.br') });
  writeFileSync(`${executablePath}.part`, read('chromium.br'), { mode: 0o755 });
  renameSync(`${executablePath}.part`, executablePath);
}
