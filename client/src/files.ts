import type { Operation } from './http.ts';

/**
 * For `encode` of `createLabgraphClient`: variables may then hold files (`File` or `Blob`), for inputs of the type `File`. An
 * operation with files is sent as a form, as in the GraphQL multipart request specification; every other one as JSON.
 */
export function encodeFiles(operation: Operation): string | FormData {
  const files: Blob[] = [];
  const places: Record<number, readonly [string]> = {};
  const find = (value: unknown, place: string): void => {
    if (value instanceof Blob) places[files.push(value) - 1] = [place];
    else if (typeof value === 'object' && value !== null)
      for (const [name, part] of Object.entries(value)) find(part, `${place}.${name}`);
  };
  find(operation.variables, 'variables');
  const json = JSON.stringify(operation, (_name, value) => (value instanceof Blob ? null : value));
  if (files.length === 0) return json;
  const form = new FormData();
  form.set('operations', json);
  form.set('map', JSON.stringify(places));
  files.forEach((file, index) => {
    form.set(`${index}`, file);
  });
  return form;
}
