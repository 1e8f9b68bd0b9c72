import { readConfig } from '../../../gateway/config/config.ts';
import { createGateway } from '../../../gateway/gateway.ts';
import { createLog } from '../../../gateway/log.ts';
import { createSandbox } from '../../../sandbox/sandbox.ts';
import { complete } from '../../support/configuration.ts';
import { makeFolder } from '../../support/folder.ts';
import { findFreePort } from '../../support/listening.ts';

/** A gateway in production over a sandbox, and the environment that it runs with. */
export async function startSound() {
  const folder = makeFolder();
  const sandbox = createSandbox({
    apiKey: complete.SERVICE_API_KEY,
    webhookSecret: complete.WEBHOOK_SECRETS,
  });
  const { url: serviceUrl } = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  const port = await findFreePort();
  const env = {
    ...complete,
    SERVICE_URL: serviceUrl,
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    ALLOWED_ORIGINS: 'https://app.example.com',
    EVENT_LOG: `sqlite:${folder.file('events.db')}`,
    AUDIT_TRAIL: `file:${folder.file('audit')}`,
  };
  const config = readConfig(env, () => {
    throw new Error('Every secret is given.');
  });
  const gateway = await createGateway({ config, serviceUrl, log: createLog({ level: 'silent' }) });
  await gateway.listen();
  return {
    env,
    folder,
    sandbox,
    [Symbol.asyncDispose]: async () => {
      await gateway.close();
      await sandbox.close();
      folder[Symbol.dispose]();
    },
  };
}
