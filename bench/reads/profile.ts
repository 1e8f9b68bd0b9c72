import { z } from 'zod';
import { findInspector, openInspector } from '../support/inspector.ts';
import { isOurs, type Target, type TargetId } from './targets.ts';
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
  /** The same by folder of ours and by package: where a cost is spread over many functions, this shows it. */
  readonly parts: readonly PartTime[];
}

/** A folder of ours, a package, or a part of Node, and its share of the time in which the main thread was busy. */
export interface PartTime {
  readonly part: string;
  readonly share: number;
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

type SelfTimes = Pick<Profile, 'busyShare' | 'top' | 'parts'>;

/** Measures where the time of a server goes during `load`. */
export type Profiler = (load: () => Promise<unknown>) => Promise<SelfTimes>;

/**
 * Profilers of our servers, by target. Call it before any load: a server prints the address of its inspector
 * once, and only its last lines of output are stored.
 */
export async function prepareProfilers(targets: readonly Target[]): Promise<ReadonlyMap<TargetId, Profiler>> {
  const found = targets
    .filter(({ id }) => isOurs(id))
    .map(async ({ id, victim }) => {
      const address = await findInspector(victim.pid() ?? 0, victim.output);
      const profiler: Profiler = (load) => profileAt(address, load);
      return [id, profiler] as const;
    });
  return new Map(await Promise.all(found));
}

async function profileAt(address: string, load: () => Promise<unknown>): Promise<SelfTimes> {
  using inspector = await openInspector(address);
  await inspector.call('Profiler.enable');
  await inspector.call('Profiler.start');
  await load();
  const { profile } = profileShape.parse(await inspector.call('Profiler.stop'));
  await inspector.call('Profiler.disable');
  return readSelfTimes(profile);
}

/** Adds up the samples of call paths by function and by part. */
function readSelfTimes({ nodes, samples, timeDeltas }: Sampled): SelfTimes {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const functions = new Map<string, SelfTime & { readonly us: number }>();
  const parts = new Map<string, number>();
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
    functions.set(key, { name, place, share: 0, us: (functions.get(key)?.us ?? 0) + us });
    const part = describePart(name, place);
    parts.set(part, (parts.get(part) ?? 0) + us);
  });
  const top = [...functions.values()]
    .toSorted((a, b) => b.us - a.us)
    .slice(0, shown)
    .map(({ name, place, us }) => ({ name, place, share: us / busyUs }));
  const spread = [...parts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, shown)
    .map(([part, us]) => ({ part, share: us / busyUs }));
  return { busyShare: busyUs / allUs, top, parts: spread };
}

/** `gateway/http`, `undici`, `node`; functions without a place belong to the engine or the system. */
function describePart(name: string, place: string): string {
  if (place.startsWith('node:')) return 'node';
  if (place === '' || place.startsWith('wasm')) return name.startsWith('(') ? name : 'native code';
  const [first = '', second = ''] = place.split(/[/:]/);
  if (first === 'gateway') return second.endsWith('.ts') ? first : `${first}/${second}`;
  return first.startsWith('@') ? `${first}/${second}` : first;
}

/** A file of ours by its path, one of a package by its path within `node_modules`. */
function describePlace(url: string, line: number): string {
  if (url === '') return '';
  const packages = url.lastIndexOf(packageFolder);
  const path = packages === -1 ? url.replace(root, '') : url.slice(packages + packageFolder.length);
  return `${path}:${line + 1}`;
}
