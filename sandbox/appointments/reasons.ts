import { refuse } from '../http/refusal.ts';
import { seededUuid } from '../world/ids.ts';
import type { AppointmentType } from './state.ts';

interface Reason {
  readonly id: string;
  readonly name: string;
  readonly is_refundable: boolean;
}

const names: Readonly<Record<AppointmentType, readonly (readonly [name: string, isRefundable: boolean])[]>> =
  {
    phlebotomy: [
      ['Time no longer suits', true],
      ['Patient is ill', true],
      ['Provider asked for it', true],
      ['Other', false],
    ],
    patient_service_center: [
      ['Time no longer suits', true],
      ['Another center suits better', true],
      ['Other', false],
    ],
  };

/** Why appointments of this kind are cancelled. */
export function reasonsOf(seed: number, type: AppointmentType): readonly Reason[] {
  return names[type].map(([name, isRefundable], index) => ({
    id: seededUuid(seed, `cancellation-reason/${type}`, index),
    name,
    is_refundable: isRefundable,
  }));
}

/** @throws Refusal 400 for a reason of another kind or of nobody */
export function requireReason(seed: number, type: AppointmentType, reasonId: string): Reason {
  const reason = reasonsOf(seed, type).find(({ id }) => id === reasonId.toLowerCase());
  if (!reason) throw refuse(400, 'Cancellation reason does not exist');
  return reason;
}

/** Observed: this reason needs notes. */
export function isReasonOther({ name }: Reason): boolean {
  return name === 'Other';
}
