import type { Operation } from './http.ts';

/**
 * For `encode` of `createLabgraphClient`: variables may then hold files (`File` or `Blob`, in React Native
 * `{ uri, name, type }`), for inputs of the type `File`. An operation with files is sent as a form, as in the GraphQL multipart
 * request specification; every other one as JSON.
 */
export function encodeFiles(operation: Operation): string | FormData {
  const files: Blob[] = [];
  const places: Record<number, readonly [string]> = {};
  const find = (value: unknown, place: string): void => {
    if (isFile(value)) places[files.push(value) - 1] = [place];
    else if (typeof value === 'object' && value !== null)
      for (const [name, part] of Object.entries(value)) find(part, `${place}.${name}`);
  };
  find(operation.variables, 'variables');
  const json = JSON.stringify(operation, (_name, value) => (isFile(value) ? null : value));
  if (files.length === 0) return json;
  const form = new FormData();
  // React Native has no `set`.
  form.append('operations', json);
  form.append('map', JSON.stringify(places));
  files.forEach((file, index) => {
    form.append(`${index}`, file);
  });
  return form;
}

/** React Native reads a file when the form is sent, and knows it by its `uri`. No input of the graph has a field of this name. */
function isFile(value: unknown): value is Blob {
  return value instanceof Blob || typeof Object(value).uri === 'string';
}
