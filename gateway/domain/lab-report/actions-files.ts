import type { InputIssue } from '../../graph/user-error.ts';
import { type LabReportFile, labReportLimits } from './rest.ts';

/** What a file begins with; the name and type that its sender gives it are not believed. */
const signatures = [
  { extension: 'pdf', type: 'application/pdf', start: Buffer.from('%PDF-') },
  { extension: 'jpeg', type: 'image/jpeg', start: Buffer.from([0xff, 0xd8, 0xff]) },
  {
    extension: 'png',
    type: 'image/png',
    start: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  },
] as const;

export interface CheckedFiles {
  readonly files: readonly LabReportFile[];
  readonly issues: readonly InputIssue[];
}

/** Tells what the files are by their first bytes, and everything that is wrong with them at once. */
export async function checkFiles(given: readonly File[]): Promise<CheckedFiles> {
  const found = await Promise.all(given.map(readFile));
  const files = found.filter((file) => file !== null);
  const issues = given.flatMap((file, index) => {
    const message = findFault(file, found[index] ?? null);
    return message === null ? [] : [{ path: ['files', String(index)], message }];
  });
  const together = findFaultOfAll(given, files);
  return { files, issues: together === null ? issues : [{ path: ['files'], message: together }, ...issues] };
}

/** The file under its true type; its bytes are shared, not copied. */
async function readFile(file: File): Promise<LabReportFile | null> {
  const start = Buffer.from(await file.slice(0, 8).arrayBuffer());
  const known = signatures.find((signature) =>
    start.subarray(0, signature.start.length).equals(signature.start),
  );
  if (known === undefined) return null;
  return { extension: known.extension, content: file.slice(0, file.size, known.type) };
}

function findFault(file: File, read: LabReportFile | null): string | null {
  if (file.size === 0) return 'The file is empty.';
  if (file.size > labReportLimits.bytesPerFile) return 'A file may have 10 MB at most.';
  return read === null ? 'The file is neither a PDF nor a JPEG nor a PNG.' : null;
}

function findFaultOfAll(given: readonly File[], files: readonly LabReportFile[]): string | null {
  if (given.length === 0) return 'Give at least one file.';
  if (given.length > labReportLimits.files) return `Give ${labReportLimits.files} files at most.`;
  const hasPdf = files.some(({ extension }) => extension === 'pdf');
  if (given.length > 1 && hasPdf) return 'Give a PDF alone; only images can come together.';
  const bytes = given.reduce((sum, file) => sum + file.size, 0);
  return bytes > labReportLimits.bytes ? 'The files may have 31 MB together at most.' : null;
}
