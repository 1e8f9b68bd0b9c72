import { z } from 'zod';
import { answerStaticFile, caching, loadStaticFile, type StaticFile } from './static-files.ts';

/** `integrity` by path: `portal-widget.js`, and `0.1.0-3f9a2c1b/portal-widget.js`, whose content never changes. */
const hashesShape = z.record(z.string(), z.string());

/**
 * Serves built widget files to pages of any origin: they are public and contain no data. Each file is cached in memory when
 * it is first read, so a rebuilt file needs a restart.
 */
export class WidgetFiles {
  readonly #folder: URL;
  readonly #files = new Map<string, StaticFile>();

  constructor(folder: URL) {
    this.#folder = folder;
  }

  /** A file by its name. Pages know this address, so its content may change with the next release. */
  async answerNewest(request: Request, name: string): Promise<Response> {
    const file = await this.#load(name);
    if (file === null)
      return refuseFile('There is no such widget file. Build the widget with: npm run build');
    return answerStaticFile(request, file, { ...forAllOrigins, 'cache-control': caching.short });
  }

  /** A file of one version, which is cached for a year: only the bytes that `sri.json` lists for it. */
  async answerVersion(request: Request, version: string, name: string): Promise<Response> {
    const [file, hashes] = await Promise.all([this.#load(name), this.#readHashes()]);
    if (file === null || file.integrity !== hashes[`${version}/${name}`])
      return refuseFile('This gateway has no such version of the file. /widget/sri.json lists what it has.');
    return answerStaticFile(request, file, { ...forAllOrigins, 'cache-control': caching.immutable });
  }

  async #readHashes(): Promise<Readonly<Record<string, string>>> {
    const bytes = (await this.#load('sri.json'))?.forms.get('identity') ?? '{}';
    return hashesShape.parse(JSON.parse(bytes.toString()));
  }

  async #load(name: string): Promise<StaticFile | null> {
    const cached = this.#files.get(name);
    if (cached !== undefined) return cached;
    const file = await loadStaticFile(new URL(name, this.#folder)).catch(() => null);
    if (file !== null) this.#files.set(name, file);
    return file;
  }
}

const forAllOrigins = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
} as const;

/** Not cached, because the file may be there after the next release. */
function refuseFile(message: string): Response {
  const headers = { ...forAllOrigins, 'cache-control': 'no-store' };
  return Response.json({ error: { code: 'NOT_FOUND', message } }, { status: 404, headers });
}
