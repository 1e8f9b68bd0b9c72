import type { LabTest } from '../world/catalogue.ts';
import type { Address } from '../world/people.ts';
import { type CollectionMethod, remainingPath } from './states.ts';

/** One step of an order's life; ids grow over the whole service (public service). */
export interface OrderEvent {
  readonly id: number;
  readonly createdAt: number;
  readonly status: string;
  readonly statusDetail: string | null;
}

/** The person tested, in the spelling of the service. */
export interface PatientDetails {
  readonly first_name: string;
  readonly last_name: string;
  readonly dob: string;
  readonly gender: string;
  readonly phone_number: string | null;
  readonly email: string | null;
  readonly medical_proxy: unknown;
  readonly race: string | null;
  readonly ethnicity: string | null;
  readonly sexual_orientation: string | null;
  readonly gender_identity: string | null;
}

/** Parcels of a kit, in the spelling of the service (specification: shipment). */
interface Shipment {
  readonly id: string;
  readonly created_at: string;
  updated_at: string;
  readonly outbound_courier: string;
  readonly outbound_tracking_number: string;
  readonly outbound_tracking_url: string;
  inbound_courier: string | null;
  inbound_tracking_number: string | null;
  inbound_tracking_url: string | null;
  readonly notes: string | null;
}

/** Fields that only some orders have. */
export interface OrderExtras {
  readonly notes?: string;
  readonly clinicalNotes?: string | null;
  readonly healthInsuranceId?: string;
  readonly hasAbn?: boolean;
  /** A date; null once a scheduled order was released at once. */
  readonly activateBy?: string | null;
  readonly physician?: {
    readonly first_name: string;
    readonly last_name: string;
    readonly npi: string;
  } | null;
  readonly billingType?: string;
  readonly priority?: boolean;
  readonly icdCodes?: readonly string[] | null;
}

/** One order as the sandbox stores it; `present.ts` turns it into the service's shape. */
export interface Order {
  readonly id: string;
  readonly ordinal: number;
  /** Changes when a kit is registered to somebody else (public service). */
  userId: string;
  readonly labTestId: string;
  readonly method: CollectionMethod;
  /** A kit sent out before anyone is registered for it (specification: unregistered testkit order). */
  readonly registrable: boolean;
  readonly origin: 'initial' | 'redraw' | 'recreation';
  readonly transactionId: string;
  readonly parentId: string | null;
  readonly detailsId: string;
  readonly createdAt: number;
  updatedAt: number;
  readonly events: OrderEvent[];
  patientDetails: PatientDetails | null;
  patientAddress: Address | null;
  readonly shippingDetails: Address | null;
  shipment: Shipment | null;
  sampleId: string | null;
  requisitionFormUrl: string | null;
  interpretation: string | null;
  /** Whether results are missing; undefined if no simulation set it. */
  hasMissingResults?: boolean | undefined;
  readonly passthrough: string | null;
  extras: OrderExtras;
  /** Made for an order set that is no lab test of the catalogue. */
  readonly generatedLabTest?: LabTest;
}

/** The status of the last event; every order has at least one event. */
export function currentStatus(order: Order): string {
  return order.events.at(-1)?.status ?? '';
}

/** Whether the order can still reach the end of its success path. */
export function isUnderWay(order: Order): boolean {
  return remainingPath(order, currentStatus(order)).length > 0;
}
