import { constants, existsSync } from 'node:fs';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../gateway/config/config.ts';
import { isGatewayError } from '../../gateway/errors.ts';
import { openEventStore } from '../../gateway/events/open.ts';
import { createLog } from '../../gateway/log.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

/** The event log and the audit trail: whether they can be written, and are durable. */
export async function checkStorage(config: Config): Promise<readonly Finding[]> {
  const { auditTrail } = config;
  const trail = auditTrail === null ? [] : [checkFolder('audit trail', auditTrail.folder)];
  return await Promise.all([checkEventLog(config), ...trail]);
}

async function checkEventLog(config: Config): Promise<Finding> {
  const { eventLog, service } = config;
  const check = 'event log';
  if (eventLog.kind === 'redis') return await checkRedis(config);
  if (eventLog.kind === 'memory') {
    if (service.kind === 'embedded') return ok(check, 'It is in memory.');
    const message = 'EVENT_LOG=memory: loses every event at a restart.';
    return warning(check, message, 'Set EVENT_LOG to sqlite:<path> or redis://<host>.');
  }
  const path = resolve(eventLog.path);
  return existsSync(path) && !(await isWritable(path))
    ? fault(check, `This user may not write ${path}.`, 'Give the file to the user that runs the gateway.')
    : await checkFolder(check, dirname(path));
}

async function isWritable(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Writes a file in the folder, or in the nearest one above it that is there, and removes it. */
async function checkFolder(check: string, folder: string): Promise<Finding> {
  let nearest = resolve(folder);
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    const tried = await mkdtemp(join(nearest, '.labgraph-doctor-'));
    try {
      await writeFile(join(tried, 'tried'), 'x', { mode: 0o600 });
    } finally {
      await rm(tried, { recursive: true, force: true });
    }
    return ok(check, `${resolve(folder)} can be written.`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const fix = 'Give the folder to the user that runs the gateway, or name another one.';
    return fault(check, `${nearest} cannot be written (${code}).`, fix);
  }
}

/** Opens the log as the gateway does, which refuses a Redis that may lose events. */
async function checkRedis({ eventLog, eventLogKeys: keys }: Config): Promise<Finding> {
  const check = 'event log';
  try {
    const store = await openEventStore(eventLog, { keys, log: createLog({ level: 'silent' }) });
    await store.log.close();
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return fault(check, error.message, 'See docs/operations.md on Redis.');
  }
  if (eventLog.kind === 'redis' && eventLog.allowWeak)
    return warning(check, 'ALLOW_WEAK_REDIS=1 accepts a Redis that may lose events.', 'Remove it.');
  return ok(check, 'Redis answers, and is durable.');
}
