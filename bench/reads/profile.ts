import { z } from 'zod';
import { openInspector } from '../support/inspector.ts';
import type { Target, TargetId } from './targets.ts';
import type { WorkloadName } from './workloads.ts';

/** A function and its share of the time in which the main thread was busy. */
export interface SelfTime {
  readonly name: string;
  readonly place: string;
  readonly share: number;
}

/** Where the time of one server went under one workload. */
export interface Profile {
  readonly workload: WorkloadName;
  readonly target: TargetId;
  /** The share of all time in which the main thread was busy. */
  readonly busyShare: number;
  readonly top: readonly SelfTime[];
}

const shown = 12;
const packageFolder = 'node_modules/';
const root = new URL('../../', import.meta.url).href;

const profileShape = z.object({
  profile: z.object({
    nodes: z.array(
      z.object({
        id: z.number(),
        callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      }),
    ),
    samples: z.array(z.number()),
    timeDeltas: z.array(z.number()),
  }),
});
type Sampled = z.output<typeof profileShape>['profile'];

/** Profiles a running server while `load` lasts. The server must have been started with `--inspect-port=0`. */
export async function profileTarget(
  { victim }: Target,
  load: () => Promise<unknown>,
): Promise<Pick<Profile, 'busyShare' | 'top'>> {
  using inspector = await openInspector(victim.pid() ?? 0, victim.output);
  await inspector.call('Profiler.enable');
  await inspector.call('Profiler.start');
  await load();
  const { profile } = profileShape.parse(await inspector.call('Profiler.stop'));
  await inspector.call('Profiler.disable');
  return readSelfTimes(profile);
}

/** Adds up by function what was sampled by call path. */
function readSelfTimes({ nodes, samples, timeDeltas }: Sampled): Pick<Profile, 'busyShare' | 'top'> {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, SelfTime & { readonly us: number }>();
  let [busyUs, allUs] = [0, 0];
  samples.forEach((id, index) => {
    const frame = frames.get(id);
    const us = timeDeltas[index] ?? 0;
    allUs += us;
    if (frame === undefined || frame.functionName === '(idle)') return;
    busyUs += us;
    const place = describePlace(frame.url, frame.lineNumber);
    const key = `${frame.functionName} ${place}`;
    const name = frame.functionName || '(anonymous)';
    times.set(key, { name, place, share: 0, us: (times.get(key)?.us ?? 0) + us });
  });
  const top = [...times.values()]
    .toSorted((a, b) => b.us - a.us)
    .slice(0, shown)
    .map(({ name, place, us }) => ({ name, place, share: us / busyUs }));
  return { busyShare: busyUs / allUs, top };
}

/** A file of ours by its path, one of a package by its path within `node_modules`. */
function describePlace(url: string, line: number): string {
  if (url === '') return '';
  const packages = url.lastIndexOf(packageFolder);
  const path = packages === -1 ? url.replace(root, '') : url.slice(packages + packageFolder.length);
  return `${path}:${line + 1}`;
}
