import process from 'node:process';
import type { Command, Settings } from '../../gateway/commands/program.ts';
import { checkConfiguration } from './configuration.ts';
import { type Finding, fault, ok, warning } from './finding.ts';
import { checkPort, checkPublicUrl, checkWidget } from './gateway.ts';
import { checkManagement, checkService } from './service.ts';
import { checkStorage } from './storage.ts';

const leastNode = 26;

/** Judges the configuration of a gateway, and tries what it leads to. */
export const doctor: Command<null> = {
  usage: '',
  summary:
    "run on the gateway's machine, in its folder and with its environment: tries its configuration, service, webhooks, event log, clock, origins and widget, and says what to do",
  options: {},
  examples: ['', '--json'],
  format: ({ check, ok, message, fix }) => {
    const well = fix === null ? 'ok' : 'warning';
    return `${(ok ? well : 'fault').padEnd(7)}  ${check}: ${message}${fix === null ? '' : ` ${fix}`}`;
  },
  run: async ({ settings, print }) => {
    const findings = await examine(settings, process.cwd());
    await print(findings);
    return findings.every((finding) => finding.ok);
  },
};

/** @param folder the gateway's, where the built widget is */
export async function examine(settings: Settings, folder: string): Promise<readonly Finding[]> {
  const { config, findings } = checkConfiguration(settings);
  const first = [checkNode(), ...findings];
  if (config === null)
    return [...first, warning('others', 'Nothing else was tried.', 'Mend the configuration first.')];
  const { finding, url } = await checkPort(config);
  const tried = await Promise.all([
    checkService(config),
    checkStorage(config),
    checkManagement(config),
    checkPublicUrl(config, url !== null),
    checkWidget(url, folder),
  ]);
  return [...first, finding, ...tried.flat()];
}

function checkNode(): Finding {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= leastNode) return ok('node', `Node ${node}.`);
  return fault('node', `Node ${node} is too old.`, `Use Node ${leastNode}, which npm ci installs.`);
}
