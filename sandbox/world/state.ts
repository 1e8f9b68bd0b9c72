import type { Refusal } from '../http/refusal.ts';
import { createManagement, type ManagementState } from '../management/state.ts';
import type { Order } from '../orders/order.ts';
import type { User } from './users.ts';

/** A pre-authorized link into the portal (specification: portal URL). */
export interface PortalLink {
  readonly path: string;
  readonly orderId: string | null;
  readonly expiresAt: number;
}

/** A webhook message that is not delivered yet; its body is fixed, so that a retry sends the same bytes. */
export interface OutgoingMessage {
  readonly messageId: string;
  readonly eventType: string;
  readonly orderId: string | null;
  readonly body: string;
}

/** The first answer to a request with an idempotency key. */
interface IdempotencyRecord {
  readonly key: string;
  readonly at: number;
  readonly status: Refusal['status'] | 200;
  readonly body: unknown;
}

export type AppointmentType = 'phlebotomy' | 'patient_service_center';
export type AppointmentStatus = 'pending' | 'scheduled' | 'completed' | 'cancelled';

/** An address in the spelling of appointments: `zip_code`, not `zip` (public service: USAddress). */
export interface VisitAddress {
  readonly first_line: string;
  readonly second_line?: string | null | undefined;
  readonly city: string;
  readonly state: string;
  readonly zip_code: string;
  readonly access_notes?: string | null | undefined;
}

/** One appointment as the sandbox stores it; an order may have several over time, one of them active. */
export interface Appointment {
  readonly id: string;
  readonly orderId: string;
  readonly userId: string;
  readonly type: AppointmentType;
  readonly provider: string;
  readonly address: VisitAddress;
  placeCode: string;
  startAt: number | null;
  endAt: number | null;
  notes: string | null;
  readonly events: {
    readonly createdAt: number;
    readonly status: AppointmentStatus;
    readonly data: Readonly<Record<string, unknown>> | null;
  }[];
}

/** Why a report could not be read (public service: ParsingJobFailureReason). */
export const failureReasons = [
  'invalid_input',
  'low_quality',
  'not_english',
  'too_many_pages',
  'processing_error',
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** The parsing job of one uploaded report. The file itself is not stored. */
export interface LabReportJob {
  readonly id: string;
  readonly ordinal: number;
  readonly userId: string;
  status: 'started' | 'completed' | 'failed';
  /** The failure it will end with; null when the report will be read. */
  readonly willFail: FailureReason | null;
  readonly needsHumanReview: boolean;
  isReviewed: boolean;
  readonly createdAt: number;
}

/** The remaining part of a simulation with a delay. */
export interface Simulation {
  readonly orderId: string;
  readonly delayMs: number;
  /** The status of the order before the next step, unless something else has moved it. */
  from: string;
  readonly steps: {
    readonly status: string;
    readonly statusDetail?: string | undefined;
    readonly interpretation?: string | undefined;
    readonly hasMissingResults?: boolean | undefined;
  }[];
}

/** Everything that changes and is stored in the state file. */
export interface WorldState {
  readonly version: 1;
  readonly seed: number;
  readonly users: User[];
  readonly orders: Order[];
  readonly appointments: Appointment[];
  readonly bookingKeys: { minted: number; readonly used: string[] };
  /** First answers to bookings, by idempotency key. */
  readonly bookingReplies: Record<string, unknown>;
  readonly labReports: LabReportJob[];
  simulations: Simulation[];
  readonly portalLinks: PortalLink[];
  readonly outbox: OutgoingMessage[];
  readonly replies: IdempotencyRecord[];
  readonly management: ManagementState;
  /** The next one takes the next number. Orders are counted from 0, events and messages from the first number of the world. */
  readonly counters: { events: number; orders: number; messages: number };
}

/**
 * A state without users and orders.
 * @param firstNumber where the numbers of events and messages begin
 */
export function emptyState(seed: number, firstNumber = 0): WorldState {
  return {
    version: 1,
    seed,
    users: [],
    orders: [],
    appointments: [],
    bookingKeys: { minted: 0, used: [] },
    bookingReplies: {},
    labReports: [],
    simulations: [],
    portalLinks: [],
    outbox: [],
    replies: [],
    management: createManagement(seed),
    counters: { events: firstNumber, orders: 0, messages: firstNumber },
  };
}
