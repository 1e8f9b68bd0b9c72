import { createServer, request as send } from 'node:http';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { makeFolder } from './folder.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { gatewayKey, serviceKey, webhookSecret } from './lab.ts';

export const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
export const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

/** A sandbox whose calls show which `traceparent` they brought. */
export async function startService() {
  const sandbox = createSandbox({ apiKey: serviceKey, webhookSecret, speed: 1000 });
  const { url } = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  const traces: unknown[] = [];
  const recorder = createServer((request, response) => {
    traces.push(request.headers.traceparent);
    const { method = 'GET', headers } = request;
    const passed = send(`${url}${request.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve));
  const address = recorder.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const end = async () => {
    recorder.closeAllConnections();
    recorder.close();
    await sandbox.close();
  };
  return { sandbox, url: `http://127.0.0.1:${port}`, traces, [Symbol.asyncDispose]: end };
}

/** A gateway in a process of its own, over this service. */
export async function startGateway(
  service: string,
  env: Readonly<Record<string, string>>,
): Promise<GatewayProcess & AsyncDisposable> {
  const folder = makeFolder();
  const gateway = await startGatewayProcess(folder.path, {
    ...{ PORT: '0', SERVICE_URL: service, SERVICE_API_KEY: serviceKey, WEBHOOK_SECRETS: webhookSecret },
    ...{ GATEWAY_API_KEYS: gatewayKey, VIEWER_TOKEN_SECRET: 'a viewer secret of more than 32 characters' },
    ...{ EVENT_LOG: 'memory:', RECONCILE_MINUTES: '0', READ_CACHE_SECONDS: '0', ...env },
  });
  const end = async () => {
    await gateway.end('SIGKILL');
    folder[Symbol.dispose]();
  };
  return { ...gateway, [Symbol.asyncDispose]: end };
}
