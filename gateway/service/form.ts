import { FormData } from 'undici';

/** The parts of a form, in order; names may repeat. */
export type Form = readonly FormPart[];

type FormPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly file: Blob; readonly fileName: string };

/** undici's own class: its client knows no other. The files are read as they are sent, not before. */
export function toFormData(form: Form): FormData {
  const made = new FormData();
  for (const part of form) {
    if ('file' in part) made.append(part.name, part.file, part.fileName);
    else made.append(part.name, part.value);
  }
  return made;
}
