import { day, id, link, list, optional, record, required, text, timestamp } from '../../parse.ts';
import { readMedicalProxy } from '../../user/rest-demographics.ts';

/** Readers of the parts of an order; the order itself is read in rest.ts. */

export const readOrderEvent = record((raw) => ({
  id: required(raw, 'id', id),
  createdAt: timestamp(raw.created_at),
  status: required(raw, 'status', text),
  statusDetail: text(raw.status_detail),
}));

const readShipment = optional(
  record((raw) => ({
    id: id(raw.id),
    outbound: {
      courier: text(raw.outbound_courier),
      trackingNumber: text(raw.outbound_tracking_number),
      trackingUrl: link(raw.outbound_tracking_url),
    },
    inbound: {
      courier: text(raw.inbound_courier),
      trackingNumber: text(raw.inbound_tracking_number),
      trackingUrl: link(raw.inbound_tracking_url),
    },
    notes: text(raw.notes),
    createdAt: timestamp(raw.created_at),
    updatedAt: timestamp(raw.updated_at),
  })),
);

const readMethodData = optional(
  record((raw) => ({
    id: id(raw.id),
    createdAt: timestamp(raw.created_at),
    updatedAt: timestamp(raw.updated_at),
    appointmentId: id(raw.appointment_id),
    shipment: readShipment(raw.shipment),
  })),
);

/** The details that depend on the collection method. */
export const readDetails = optional(
  record((raw) => ({ method: text(raw.type), data: readMethodData(raw.data) })),
);

const readTransactionOrders = list(
  record((raw) => ({
    id: required(raw, 'id', id),
    origin: text(raw.origin),
    parentId: id(raw.parent_id),
    step: text(raw.low_level_status),
    stepAt: timestamp(raw.low_level_status_created_at),
    createdAt: timestamp(raw.created_at),
    updatedAt: timestamp(raw.updated_at),
  })),
);

export const readTransaction = optional(
  record((raw) => ({
    id: required(raw, 'id', id),
    status: text(raw.status),
    orders: readTransactionOrders(raw.orders),
  })),
);

export const readPatient = optional(
  record((raw) => ({
    firstName: text(raw.first_name),
    lastName: text(raw.last_name),
    dob: day(raw.dob),
    gender: text(raw.gender),
    phoneNumber: text(raw.phone_number),
    email: text(raw.email),
    medicalProxy: readMedicalProxy(raw.medical_proxy),
    race: text(raw.race),
    ethnicity: text(raw.ethnicity),
    sexualOrientation: text(raw.sexual_orientation),
    genderIdentity: text(raw.gender_identity),
  })),
);

export const readPhysician = optional(
  record((raw) => ({ firstName: text(raw.first_name), lastName: text(raw.last_name), npi: text(raw.npi) })),
);
