import { expect, test } from 'vitest';
import { installLocked } from '../../bench/support/install.ts';
import { readManifests } from '../support/manifests.ts';

const folder = new URL('.', import.meta.url);

/** Where the schema of each kind is. */
const files: Readonly<Record<string, string>> = {
  ConfigMap: 'kubernetes-models/v1/ConfigMap.js',
  Deployment: 'kubernetes-models/apps/v1/Deployment.js',
  HorizontalPodAutoscaler: 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler.js',
  NetworkPolicy: 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy.js',
  PodDisruptionBudget: 'kubernetes-models/policy/v1/PodDisruptionBudget.js',
  Service: 'kubernetes-models/v1/Service.js',
  ServiceAccount: 'kubernetes-models/v1/ServiceAccount.js',
  ServiceMonitor: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor.js',
};

test('every manifest of Kubernetes fits the schema of its kind', async () => {
  installLocked(folder);
  const kinds: string[] = [];
  for (const manifest of readManifests()) {
    const { [manifest.kind]: Model } = await import(
      new URL(`node_modules/${files[manifest.kind]}`, folder).href
    );
    const check = (what: unknown) => new Model(what).validate();
    expect(() => check({ ...manifest, metadata: { labels: 1 } })).toThrow();
    check(manifest);
    kinds.push(manifest.kind);
  }
  expect(kinds.toSorted()).toEqual(Object.keys(files).toSorted());
});
