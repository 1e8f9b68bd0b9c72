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

interface AppointmentEvent {
  readonly createdAt: number;
  readonly status: AppointmentStatus;
  readonly data: Readonly<Record<string, unknown>> | null;
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
  readonly events: AppointmentEvent[];
}

/** Appointments and the keys that were spent on them; stored in the state file. */
export interface AppointmentState {
  readonly appointments: Appointment[];
  readonly bookingKeys: { minted: number; readonly used: string[] };
  /** First answers to bookings under an idempotency key. */
  readonly bookingReplies: Record<string, unknown>;
}

export function emptyAppointments(): AppointmentState {
  return { appointments: [], bookingKeys: { minted: 0, used: [] }, bookingReplies: {} };
}
