import type { EventLog } from '../../gateway/events/log.ts';
import { type EventStore, openEventStore } from '../../gateway/events/open.ts';
import {
  createGateway,
  type Gateway,
  type GatewayFactories,
  type GatewayParts,
} from '../../gateway/gateway.ts';
import type { Service } from '../../gateway/service/service.ts';
import { replaceMembers } from './members.ts';

/** A gateway with one fault that a test must find: parts of it are replaced when it is made. */
export interface Fault {
  readonly name: string;
  readonly factories?: Partial<GatewayFactories>;
  /** Members of the event log to replace. */
  readonly log?: (log: EventLog) => Partial<EventLog>;
}

/** Makes gateways with the fault. */
export function makeWith({ factories = {}, log }: Fault): (parts: GatewayParts) => Promise<Gateway> {
  return async (parts) => {
    if (log === undefined) return await createGateway({ ...parts, factories });
    const { eventLog, eventLogKeys } = parts.config;
    const store = openEventStore(eventLog, { keys: eventLogKeys, log: parts.log });
    return await createGateway({ ...parts, factories, store: store.then((opened) => withLog(opened, log)) });
  };
}

/** The same store, with some members of its log replaced. */
export function withLog(store: EventStore, replace: (log: EventLog) => Partial<EventLog>): EventStore {
  return { ...store, log: replaceMembers(store.log, replace(store.log)) };
}

/** The same service, with some of its members replaced. */
export function withMembers(service: Service, replace: (service: Service) => Partial<Service>): Service {
  const whole: Omit<Service, 'forShowing' | 'writes'> = {
    readOne: (read) => service.readOne(read),
    readPage: (read) => service.readPage(read),
    readFile: (read) => service.readFile(read),
    write: (write) => service.write(write),
    rights: service.rights,
    readAnew: () => service.readAnew(),
    beginAnew: () => service.beginAnew(),
    pathOf: (path) => service.pathOf(path),
    ...replace(service),
  };
  return {
    ...whole,
    get writes() {
      return service.writes;
    },
    get forShowing() {
      return service.forShowing === service ? this : withMembers(service.forShowing, replace);
    },
  };
}
