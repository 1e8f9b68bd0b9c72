import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';

const read = (file: string) =>
  readFileSync(new URL(`../../deploy/kubernetes/${file}`, import.meta.url), 'utf8');

/** What `kubectl apply -k deploy/kubernetes` would send. */
export function readManifests() {
  const { resources } = parse(read('kustomization.yaml'));
  return resources.flatMap((file: string) =>
    parseAllDocuments(read(file)).map((document) => document.toJS()),
  );
}
