import { readOptionalUuid } from '../../graph/arguments.ts';
import { builder, type DefineFields } from '../../graph/builder.ts';
import { upstreamCallCost } from '../../graph/cost.ts';
import { resumeAt } from '../../graph/pagination/cursors.ts';
import { needs } from '../../graph/permissions.ts';
import { loadUser, userRef } from '../user/graph.ts';
import { cursorOfNow, followServiceEvents, type ServiceEvent } from './actions.ts';

/** An object type for webhooks of a concept. */
interface EventType {
  readonly description: string;
  /** Reads the content of an event; null for events that are not of this type. */
  readonly read: (event: ServiceEvent) => unknown;
  readonly fields: DefineFields<ServiceEvent>;
}

const eventTypes = new Map<string, EventType>();

function typenameOf(event: ServiceEvent): string {
  if (event.kind === 'reset') return 'StreamReset';
  return [...eventTypes].find(([, { read }]) => read(event) !== null)?.[0] ?? 'UnknownEvent';
}

const serviceEventRef = builder.interfaceRef<ServiceEvent>('ServiceEvent').implement({
  description: 'Something the service reported by webhook.',
  resolveType: typenameOf,
  fields: (t) => ({
    cursor: t.expose('cursor', {
      type: 'EventCursor',
      nullable: false,
      description: 'Send it as `after` to continue from here without missing or repeating a change.',
    }),
    type: t.exposeString('type', {
      nullable: false,
      description: 'The event type as sent, such as labtest.order.updated.',
    }),
    userId: t.exposeID('userId', { description: 'Id of the user it is about.' }),
    user: t.field({
      complexity: upstreamCallCost,
      type: userRef,
      description: 'The user it is about; null when there is none any more.',
      resolve: ({ userId }, _args, context, info) =>
        userId === null ? null : loadUser(context, userId, info),
    }),
    clientUserId: t.exposeString('clientUserId', { description: "The team's own reference of that user." }),
    teamId: t.exposeID('teamId', { description: 'Id of the team.' }),
    receivedAt: t.expose('receivedAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When the gateway received it.',
    }),
    payload: t.expose('payload', {
      type: 'JSON',
      description: 'The data of the event as the service sent it.',
    }),
  }),
});

/** Shows the events that `read` can read as an object type of their own; the others stay UnknownEvent. */
export function serviceEventType(typename: string, type: EventType): void {
  const { description, fields } = type;
  eventTypes.set(typename, type);
  builder.objectRef<ServiceEvent>(typename).implement({ description, interfaces: [serviceEventRef], fields });
}

builder.objectRef<ServiceEvent>('UnknownEvent').implement({
  description: 'An event of a type this gateway has no shape for yet.',
  interfaces: [serviceEventRef],
});

builder.objectRef<ServiceEvent>('StreamReset').implement({
  description:
    'Events since `after` are lost. After pruned and sealed, the stream continues with all events that are still stored; otherwise with new ones.',
  interfaces: [serviceEventRef],
  fields: (t) => ({
    reason: t.exposeString('reason', {
      description:
        'Why the history is gone: pruned (deleted), beyond-end (the log lost its end), other-epoch (it is another log) or sealed (no key decrypts it).',
    }),
  }),
});

builder.queryField('eventCursor', (t) =>
  t.field({
    type: 'EventCursor',
    extensions: needs('gateway-key'),
    description:
      'The cursor of the subscription `events` at this moment. Subscribe with it as `after` and the same other arguments, and nothing that comes from now on is missed, also before the first event.',
    args: {
      userId: t.arg.id({ description: 'As in the subscription.' }),
      types: t.arg.stringList({ description: 'As in the subscription.' }),
    },
    resolve: (_root, args, context) =>
      cursorOfNow(context, {
        userId: readOptionalUuid('userId', args.userId),
        types: args.types ?? null,
      }),
  }),
);

builder.subscriptionField('events', (t) =>
  t.field({
    type: serviceEventRef,
    nullable: false,
    complexity: 1,
    extensions: needs('gateway-key'),
    description: 'Everything the service reports, as it comes.',
    args: {
      userId: t.arg.id({ description: 'Only events about this user (uuid).' }),
      types: t.arg.stringList({ description: 'Only these event types, exactly as sent.' }),
      after: t.arg({
        type: 'EventCursor',
        description: 'The newest cursor that you have of this stream; from now on when left out.',
      }),
    },
    subscribe: (_root, args, context) =>
      followServiceEvents(context, {
        userId: readOptionalUuid('userId', args.userId),
        types: args.types ?? null,
        after: resumeAt(context, args.after),
      }),
    resolve: (event) => event,
  }),
);
