import { z } from 'zod';

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const codes = letters.flatMap((first) => letters.map((second) => first + second));
const fullNames = new Map(
  codes.flatMap((code) => {
    const name = names.of(code);
    return name && code !== 'ZZ'
      ? [[code.toLowerCase(), name] as const, [name.toLowerCase(), name] as const]
      : [];
  }),
);

/** A two-letter code or a full name in; the full English name out (specification: country). */
export const country = z.string().transform((text, context) => {
  const name = fullNames.get(text.trim().toLowerCase());
  if (name !== undefined) return name;
  context.addIssue({ code: 'custom', message: 'country is neither a two-letter code nor a name' });
  return z.NEVER;
});

/** The shipping address of a kit; all but the second line is required (specification; public service). */
export const shippingDetails = z.object({
  receiver_name: z.string().min(1),
  first_line: z.string().min(1),
  second_line: z
    .string()
    .nullish()
    .transform((text) => text ?? null),
  city: z.string().min(1),
  state: z.string().regex(/^[A-Za-z]{2}$/),
  zip: z.string().regex(/^\d{5}(-\d{4})?$/),
  country,
  phone_number: z.string().regex(/^\+[1-9][\d ().-]{6,18}$/),
});
