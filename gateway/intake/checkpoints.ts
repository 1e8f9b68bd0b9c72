import { randomUUID } from 'node:crypto';
import type { Checkpoint, CheckpointStore, PartitionOwnership } from '@azure/event-hubs';
import { z } from 'zod';
import { parseJson } from '../parse/json.ts';

/** Small texts under names, as the event log stores them. */
export interface Marks {
  readonly readMarks: (prefix: string) => Promise<ReadonlyMap<string, string>>;
  readonly writeMark: (name: string, value: string) => Promise<void>;
}

export interface CheckpointOptions {
  readonly marks: Marks;
  /** Whether other gateways use these marks. */
  readonly isShared: boolean;
}

const checkpointShape = z.object({ offset: z.string(), sequenceNumber: z.number() });
const ownershipShape = z.object({
  ownerId: z.string(),
  etag: z.string(),
  lastModifiedTimeInMs: z.number(),
});

/** What is stored belongs to a consumer group of a hub. */
interface Group {
  readonly fullyQualifiedNamespace: string;
  readonly eventHubName: string;
  readonly consumerGroup: string;
}

/**
 * The library's checkpoints, in the event log: how far each partition was read, and which gateway reads it. Two gateways that
 * claim a partition in the same moment are no conflict: the hub lets in the later one only.
 */
export function createCheckpointStore({ marks, isShared }: CheckpointOptions): CheckpointStore {
  // A gateway with a log of its own takes up its partitions at once after it was killed.
  const owners = isShared ? marks : createOwnMarks();
  const listOwnership = async (...group: GroupArguments) =>
    await list({ marks: owners, kind: 'owner', shape: ownershipShape }, toGroup(group));
  const claim = async (claimed: PartitionOwnership): Promise<PartitionOwnership | null> => {
    const known = await listOwnership(
      claimed.fullyQualifiedNamespace,
      claimed.eventHubName,
      claimed.consumerGroup,
    );
    const current = known.find(({ partitionId }) => partitionId === claimed.partitionId);
    if (current?.etag !== claimed.etag) return null;
    const { ownerId } = claimed;
    const value = { ownerId, etag: randomUUID(), lastModifiedTimeInMs: Date.now() };
    await owners.writeMark(nameOf('owner', claimed) + claimed.partitionId, JSON.stringify(value));
    return { ...claimed, ...value };
  };
  return {
    listOwnership,
    claimOwnership: async (claims) => {
      const claimed = await Promise.all(claims.map(claim));
      return claimed.filter((ownership) => ownership !== null);
    },
    updateCheckpoint: async ({ offset, sequenceNumber, ...checkpoint }: Checkpoint) => {
      const name = nameOf('checkpoint', checkpoint) + checkpoint.partitionId;
      await marks.writeMark(name, JSON.stringify({ offset, sequenceNumber }));
    },
    listCheckpoints: async (...group: GroupArguments) =>
      await list({ marks, kind: 'checkpoint', shape: checkpointShape }, toGroup(group)),
  };
}

type GroupArguments = readonly [namespace: string, hub: string, consumerGroup: string, ...rest: unknown[]];

function toGroup([fullyQualifiedNamespace, eventHubName, consumerGroup]: GroupArguments): Group {
  return { fullyQualifiedNamespace, eventHubName, consumerGroup };
}

function nameOf(kind: string, { fullyQualifiedNamespace, eventHubName, consumerGroup }: Group): string {
  return `event-hubs:${kind}:${fullyQualifiedNamespace}/${eventHubName}/${consumerGroup}/`;
}

interface Listing<Value> {
  readonly marks: Marks;
  readonly kind: string;
  readonly shape: z.ZodType<Value>;
}

async function list<Value>({ marks, kind, shape }: Listing<Value>, group: Group) {
  const prefix = nameOf(kind, group);
  const found = await marks.readMarks(prefix);
  return [...found].map(([name, value]) => ({
    ...group,
    partitionId: name.slice(prefix.length),
    ...shape.parse(parseJson(value)),
  }));
}

function createOwnMarks(): Marks {
  const marks = new Map<string, string>();
  return {
    readMarks: async (prefix) => new Map([...marks].filter(([name]) => name.startsWith(prefix))),
    writeMark: async (name, value) => void marks.set(name, value),
  };
}
