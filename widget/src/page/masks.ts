/**
 * Session recorders look into shadow roots. Each has its own mark for texts that it must not record.
 */
export const MASKED = {
  class: 'fs-mask rr-mask sentry-mask ph-no-capture',
  'data-private': '',
  'data-dd-privacy': 'mask',
  'data-hj-suppress': '',
  'data-clarity-mask': 'true',
  'data-openreplay-masked': '',
} as const;

/** For elements whose attributes must not be recorded either: an address that opens the portal. */
export const EXCLUDED = {
  ...MASKED,
  class: 'fs-exclude rr-block sentry-block ph-no-capture',
  'data-dd-privacy': 'hidden',
} as const;

/** Sets or removes the marks of an element; its other classes stay. */
export function setMarks(element: Element, marks: Readonly<Record<string, string>>, isOn: boolean): void {
  for (const [name, value] of Object.entries(marks)) {
    if (name === 'class') for (const each of value.split(' ')) element.classList.toggle(each, isOn);
    else if (isOn) element.setAttribute(name, value);
    else element.removeAttribute(name);
  }
}
