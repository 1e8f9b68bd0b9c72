import { z } from 'zod';
import { day, id, link, list, optionalId, text, timestamp } from '../reading.ts';
import { medicalProxyShape } from '../user/demographics.ts';

/** Readers of the parts of an order; the order itself is read in rest.ts. */

export const addressShape = z
  .object({
    receiver_name: text,
    first_line: text,
    second_line: text,
    city: text,
    state: text,
    zip: text,
    country: text,
    phone_number: text,
    access_notes: text,
  })
  .transform((raw) => ({
    receiverName: raw.receiver_name,
    firstLine: raw.first_line,
    secondLine: raw.second_line,
    city: raw.city,
    state: raw.state,
    zip: raw.zip,
    country: raw.country,
    phoneNumber: raw.phone_number,
    accessNotes: raw.access_notes,
  }))
  .nullable()
  .catch(null);

export const orderEventShape = z
  .object({ id, created_at: timestamp, status: z.string(), status_detail: text })
  .transform((raw) => ({
    id: raw.id,
    createdAt: raw.created_at,
    status: raw.status,
    statusDetail: raw.status_detail,
  }));

const shipmentShape = z
  .object({
    outbound_courier: text,
    outbound_tracking_number: text,
    outbound_tracking_url: link,
    inbound_courier: text,
    inbound_tracking_number: text,
    inbound_tracking_url: link,
    notes: text,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .transform((raw) => ({
    outbound: {
      courier: raw.outbound_courier,
      trackingNumber: raw.outbound_tracking_number,
      trackingUrl: raw.outbound_tracking_url,
    },
    inbound: {
      courier: raw.inbound_courier,
      trackingNumber: raw.inbound_tracking_number,
      trackingUrl: raw.inbound_tracking_url,
    },
    notes: raw.notes,
    createdAt: raw.created_at,
    updatedAt: raw.updated_at,
  }))
  .nullable()
  .catch(null);

/** The details that depend on the collection method. */
export const detailsShape = z
  .object({ type: text, data: z.object({ shipment: shipmentShape }).nullable().catch(null) })
  .nullable()
  .catch(null);

export const transactionShape = z
  .object({
    id,
    status: text,
    orders: list(
      z
        .object({
          id,
          origin: text,
          parent_id: optionalId,
          low_level_status: text,
          low_level_status_created_at: timestamp,
          created_at: timestamp,
          updated_at: timestamp,
        })
        .transform((raw) => ({
          id: raw.id,
          origin: raw.origin,
          parentId: raw.parent_id,
          step: raw.low_level_status,
          stepAt: raw.low_level_status_created_at,
          createdAt: raw.created_at,
          updatedAt: raw.updated_at,
        })),
    ),
  })
  .nullable()
  .catch(null);

export const patientShape = z
  .object({
    first_name: text,
    last_name: text,
    dob: day,
    gender: text,
    phone_number: text,
    email: text,
    medical_proxy: medicalProxyShape,
    race: text,
    ethnicity: text,
    sexual_orientation: text,
    gender_identity: text,
  })
  .transform((raw) => ({
    firstName: raw.first_name,
    lastName: raw.last_name,
    dob: raw.dob,
    gender: raw.gender,
    phoneNumber: raw.phone_number,
    email: raw.email,
    medicalProxy: raw.medical_proxy,
    race: raw.race,
    ethnicity: raw.ethnicity,
    sexualOrientation: raw.sexual_orientation,
    genderIdentity: raw.gender_identity,
  }))
  .nullable()
  .catch(null);

export const physicianShape = z
  .object({ first_name: text, last_name: text, npi: text })
  .transform((raw) => ({ firstName: raw.first_name, lastName: raw.last_name, npi: raw.npi }))
  .nullable()
  .catch(null);
