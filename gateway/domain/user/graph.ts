import { readUuid } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { type GraphContext, type LoaderKind, loadEach } from '../../graph/context.ts';
import { upstreamCallCost } from '../../graph/cost.ts';
import { type FieldInfo, startFields } from '../../graph/field-by-id.ts';
import { defineNode } from '../../graph/node.ts';
import { connectionArgs, connectionCost, connectionType } from '../../graph/pagination/connection.ts';
import { listCursors } from '../../graph/pagination/cursors.ts';
import { offsetConnection } from '../../graph/pagination/paged-connection.ts';
import { needs } from '../../graph/permissions.ts';
import { viewerRef } from '../viewer/graph.ts';
import { type ConnectedSource, getUser, getUserByClientUserId, listUsers, type User } from './rest.ts';

/** Users by id; the service has no call for several, so each is one call, made once per operation. */
const usersById: LoaderKind<string, User | null> = {
  keyOf: (id) => id.toLowerCase(),
  batch: (service, ids) => loadEach(ids, (id) => getUser(service.forShowing, id)),
};

/**
 * The user with this id as the caller may see it, or null. The selected fields that need only the id are read meanwhile.
 * @param info belongs to the field that returns the user
 */
export function loadUser(context: GraphContext, id: string, info: FieldInfo): Promise<User | null> {
  const user = context.loaders.of(usersById).load(id);
  if (context.service.rights.owns({ userId: id })) startFields(userRef.name, id, context, info);
  return user;
}

/** A provider of data, as the specification names it. */
export const sourceRef = builder.objectRef<NonNullable<ConnectedSource['source']>>('Source').implement({
  description: 'A provider of wearable or device data.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name for people.' }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
    logo: t.expose('logo', { type: 'URL', description: 'Address of its icon.' }),
  }),
});

const connectedSourceRef = builder.objectRef<ConnectedSource>('ConnectedSource').implement({
  description: 'A data source that the user has connected.',
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was connected.' }),
    source: t.expose('source', { type: sourceRef, description: 'The provider of the data.' }),
  }),
});

const fallbackBirthDateRef = builder
  .objectRef<NonNullable<User['fallbackBirthDate']>>('FallbackBirthDate')
  .implement({
    description: 'The birth date used where demographics give none.',
    fields: (t) => ({
      value: t.expose('value', { type: 'Date', description: 'The day.' }),
      sourceSlug: t.exposeString('sourceSlug', { description: 'Identifier of the source that gave it.' }),
      updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last set.' }),
    }),
  });

const fallbackTimeZoneRef = builder
  .objectRef<NonNullable<User['fallbackTimeZone']>>('FallbackTimeZone')
  .implement({
    description: 'The time zone used where a source gives none.',
    fields: (t) => ({
      name: t.exposeString('id', { description: 'Name of the time zone, such as America/New_York.' }),
      id: t.exposeString('id', {
        description: 'The same name; caches take it for an id, and mix up the zones of two users.',
        deprecationReason: 'Use `name`. Removed after 2027-05-31.',
      }),
      sourceSlug: t.exposeString('sourceSlug', { description: 'Identifier of the source that gave it.' }),
      updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last set.' }),
    }),
  });

export const userRef = builder.objectRef<User>('User');
userRef.implement({
  description: 'A person whose tests and data the team manages.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the user (uuid)." }),
    teamId: t.exposeID('teamId', { description: 'Id of the team the user belongs to.' }),
    clientUserId: t.exposeString('clientUserId', { description: "The team's own reference of the user." }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user was created.' }),
    connectedSources: t.expose('connectedSources', {
      type: [connectedSourceRef],
      nullable: false,
      description: 'The data sources the user has connected.',
    }),
    fallbackBirthDate: t.expose('fallbackBirthDate', {
      type: fallbackBirthDateRef,
      extensions: needs('read:profile'),
      description: 'The birth date used where demographics give none.',
    }),
    fallbackTimeZone: t.expose('fallbackTimeZone', {
      type: fallbackTimeZoneRef,
      description: 'The time zone used where a source gives none.',
    }),
    ingestionStart: t.expose('ingestionStart', {
      type: 'Date',
      description: 'The first day whose data is taken in; null where there is no bound.',
    }),
    ingestionEnd: t.expose('ingestionEnd', {
      type: 'Date',
      description: 'The last day whose data is taken in; null where there is no bound.',
    }),
  }),
});

builder.objectField(viewerRef, 'user', (t) =>
  t.field({
    complexity: upstreamCallCost,
    type: userRef,
    extensions: needs('read:orders'),
    description: 'The user whose data it sees; null for servers of the team.',
    resolve: ({ userId }, _args, context, info) => (userId === null ? null : loadUser(context, userId, info)),
  }),
);

defineNode(userRef, { idOf: (user) => user.id, ids: 'uuid', needs: 'read:orders', load: loadUser });

const userConnectionRef = connectionType('User', userRef, 'users');

builder.queryFields((t) => ({
  user: t.field({
    type: userRef,
    extensions: needs('read:orders'),
    description: 'One user by id; null when there is none that the caller may see.',
    args: { id: t.arg.id({ required: true, description: "The user's id (uuid)." }) },
    resolve: (_root, args, context, info) => loadUser(context, readUuid('id', args.id), info),
  }),
  userByClientUserId: t.field({
    type: userRef,
    extensions: needs('read:orders'),
    description: "One user by the team's own reference; null when there is none that the caller may see.",
    args: {
      clientUserId: t.arg.string({ required: true, description: "The team's own reference of the user." }),
    },
    resolve: (_root, args, context) => getUserByClientUserId(context.service.forShowing, args.clientUserId),
  }),
  users: t.field({
    type: userConnectionRef,
    complexity: connectionCost,
    extensions: needs('read:orders'),
    description:
      'The users the caller may see, oldest first. Users that are created while you read the list are at its end. If one is deleted meanwhile, the users behind it move up, and the next page may miss one of them.',
    args: connectionArgs('users'),
    resolve: (_root, args, context) =>
      offsetConnection(args, listCursors(context, ['users']), (range) =>
        listUsers(context.service.forShowing, range),
      ),
  }),
}));
