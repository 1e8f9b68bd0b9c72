/** Whether a text is a phone number in international format (E.164: 15 digits at most), grouped as people do. */
export function isPhoneNumber(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '').length;
  return /^\+[1-9][\d ().-]*$/.test(text) && digits >= 7 && digits <= 15;
}
