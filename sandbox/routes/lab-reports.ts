import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { requireUser } from '../http/require.ts';
import { readUuid, validate } from '../http/validation.ts';
import { announceJob, findJob, presentJob, runToEnd, startJob } from '../lab-reports/job.ts';
import type { SandboxEnv, Service } from '../service.ts';

/** Specification, Limits: 10 MB a file; up to 8 images together (public service). */
const maxFileBytes = 10 * 1024 * 1024;
const maxFiles = 8;

const signatures = [
  ['application/pdf', Buffer.from('%PDF-')],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff])],
  ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
] as const;

const uploadBody = z.object({
  file: z.array(z.instanceof(File)).min(1),
  user_id: z.guid(),
  needs_human_review: z.stringbool().default(false),
});

async function readForm(c: Context<SandboxEnv>): Promise<z.output<typeof uploadBody>> {
  const form = await c.req.formData().catch(() => {
    throw refuse(400, 'There was an error parsing the body');
  });
  const files = form.getAll('file');
  const body = {
    ...(files.length > 0 ? { file: files } : {}),
    user_id: form.get('user_id') ?? undefined,
    needs_human_review: form.get('needs_human_review') ?? undefined,
  };
  return validate(uploadBody, body, 'body');
}

/** The bytes of a file. Its type, its content type and its first bytes must agree. */
async function readFile(file: File): Promise<Buffer> {
  if (file.size > maxFileBytes) throw refuse(413, 'File too large');
  if (file.size === 0) throw refuse(400, 'File is empty');
  const bytes = Buffer.from(await file.arrayBuffer());
  const type = signatures.find(([, start]) => bytes.subarray(0, start.length).equals(start))?.[0];
  if (!signatures.some(([known]) => known === file.type)) throw refuse(400, 'Unsupported file type');
  if (type !== file.type) throw refuse(400, 'The file does not match its type');
  return bytes;
}

function checkTogether(files: readonly File[]): void {
  if (files.length > maxFiles) throw refuse(400, `At most ${maxFiles} files may be uploaded`);
  const hasPdf = files.some((file) => file.type === 'application/pdf');
  if (files.length > 1 && hasPdf) throw refuse(400, 'A PDF must be the only file');
}

/** Upload of lab reports, and their parsing jobs (specification: lab report parsing; shapes: public service). */
export function labReportRoutes(service: Service): Hono<SandboxEnv> {
  const { world, clock, save, track } = service;
  const routes = new Hono<SandboxEnv>();
  // Jobs that an earlier run left unfinished.
  for (const job of world.state.labReports) track(runToEnd(service, job));

  routes.post('/lab_report/v1/parser/job', async (c) => {
    const body = await readForm(c);
    checkTogether(body.file);
    const files = await Promise.all(body.file.map(readFile));
    const user = requireUser(world, body.user_id);
    const job = startJob(world, {
      userId: user.id,
      needsHumanReview: body.needs_human_review,
      createdAt: clock.now(),
      files,
    });
    const answer = presentJob(world, job);
    announceJob(service, job);
    await save();
    track(runToEnd(service, job));
    return c.json(answer);
  });

  routes.get('/lab_report/v1/parser/job/:job_id', (c) => {
    const job = findJob(world, readUuid(c, 'job_id'));
    if (!job) throw refuse(404, 'Job not found');
    return c.json(presentJob(world, job));
  });

  return routes;
}
