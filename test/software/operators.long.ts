/**
 * Operators that others wrote, built from their modules by interop/software/build, run against a whole cluster and do their
 * typical work: cert-manager issues certificates and injects authorities, prometheus-operator runs its kinds as StatefulSets,
 * JobSet's manager, behind webhooks whose certificate cert-manager made, runs sets of Jobs.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { parseAllDocuments } from 'yaml'
import { type E2eCluster, startE2eCluster } from '../e2e/cluster.ts'
import { type Any, type Kubectl, kubectlFor, withoutKubectl } from '../kubectl.ts'
import { addressBeyondLoopback, lacks } from '../machine.ts'
import { manifestsOf, software } from './catalogue.ts'
import { kubectlIn } from './installation.ts'
import { folderOf, modules, withoutGo } from './modules.ts'
import { command, type Operator, startOperator } from './programs.ts'

const skip = withoutKubectl || withoutGo
const folder = mkdtempSync(join(tmpdir(), 'skiff-operators-'))
let cluster: E2eCluster
let running: Operator[] = []

before(
  async () => {
    if (skip) return
    await command(fileURLToPath(new URL('../../interop/software/build', import.meta.url)), [])
    cluster = await startE2eCluster('--nodes', '2')
  },
  { timeout: 3_000_000 },
)
after(async () => {
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  running = []
})
afterEach(async () => {
  for (const operator of running) await operator.stop()
})

function start(name: string, ...args: string[]): void {
  running.push(startOperator(name, args, { KUBECONFIG: cluster.kubeconfig }))
}

/** The object, once a watch has seen it as wanted. @throws with an operator's log when nothing of the kind comes. */
async function seen(kubectl: Kubectl, resource: string, name: string, wanted: (object: Any) => boolean): Promise<Any> {
  using objects = kubectl.watch(resource, name)
  try {
    const { object } = await objects.until(({ type, object }) => type !== 'DELETED' && wanted(object))
    return object
  } catch (error) {
    for (const operator of running) operator.check()
    throw error
  }
}

const holds =
  (type: string, status = 'True') =>
  (object: Any): boolean =>
    object.status?.conditions?.some((one: Any) => one.type === type && one.status === status) === true

/** Definitions are served once they are established. */
async function install(...paths: string[]): Promise<void> {
  const kubectl = kubectlIn(cluster)
  await kubectl(['apply', '--server-side', '--force-conflicts', ...paths.flatMap((path) => ['-f', path])])
  await kubectl(['wait', '--for=condition=Established', 'customresourcedefinitions', '--all'])
}

const certificate = (name: string, issuer: string, spec: Any): object => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { name },
  spec: { secretName: name, issuerRef: { name: issuer }, ...spec },
})
const issuer = (name: string, spec: Any): object => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Issuer',
  metadata: { name },
  spec,
})

test('cert-manager issues, renews and injects', { skip }, async () => {
  await install(join(await folderOf(modules.certManager), 'deploy/crds'))
  const kubectl = await cluster.namespace('certificates')
  start('cert-manager')
  await kubectl.send(
    'create',
    issuer('self', { selfSigned: {} }),
    certificate('authority', 'self', { isCA: true, commonName: 'authority' }),
    issuer('signer', { ca: { secretName: 'authority' } }),
    certificate('leaf', 'signer', { dnsNames: ['leaf.example.com'], revisionHistoryLimit: 1 }),
  )
  await seen(kubectl, 'issuers.cert-manager.io', 'signer', holds('Ready'))
  await seen(kubectl, 'certificates.cert-manager.io', 'leaf', holds('Ready'))

  const secret = await kubectl.json('get', 'secret', 'leaf')
  const of = (entry: string) => Buffer.from(secret.data[entry], 'base64')
  const leaf = new X509Certificate(of('tls.crt'))
  assert.equal(leaf.subjectAltName, 'DNS:leaf.example.com')
  assert.ok(leaf.checkIssued(new X509Certificate(of('ca.crt'))))

  // Issued again when its Secret is lost: another serial number, and the request before it goes with its revision.
  await kubectl('delete', 'secret', 'leaf')
  const again = await seen(kubectl, 'secrets', 'leaf', ({ data }) => data?.['tls.crt'] !== undefined)
  assert.notEqual(new X509Certificate(Buffer.from(again.data['tls.crt'], 'base64')).serialNumber, leaf.serialNumber)
  await seen(kubectl, 'certificates.cert-manager.io', 'leaf', (one) => holds('Ready')(one) && one.status.revision === 2)

  await cluster.kubectl.send('create', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'injected', annotations: { 'cert-manager.io/inject-ca-from': 'certificates/authority' } },
    webhooks: [
      {
        name: 'injected.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { service: { name: 'none', namespace: 'certificates' } },
        objectSelector: { matchLabels: { 'never.example.com': 'matched' } },
      },
    ],
  })
  await seen(
    cluster.kubectl,
    'validatingwebhookconfigurations',
    'injected',
    ({ webhooks }) => webhooks[0].clientConfig.caBundle === secret.data['ca.crt'],
  )

  await kubectl('delete', 'certificate', 'leaf', '--cascade=foreground')
  const requests = await kubectl.json('get', 'certificaterequests.cert-manager.io')
  assert.deepEqual(
    requests.items.map((request: Any) => request.metadata.name),
    ['authority-1'],
  )
  await kubectl('get', 'secret', 'leaf')
  await cluster.kubectl('delete', 'validatingwebhookconfiguration', 'injected')
  await cluster.kubectl('delete', 'namespace', 'certificates')
})

test('prometheus-operator runs Prometheus and Alertmanager, follows their changes, and all goes with them', {
  skip,
}, async () => {
  await install(join(await folderOf(modules.prometheusOperator), 'example/prometheus-operator-crd'))
  const kubectl = await cluster.namespace('monitored')
  start('prometheus-operator', '--web.listen-address=127.0.0.1:0', '--kubelet-service=kube-system/kubelet')
  const monitoring = (kind: string, name: string, spec: Any, metadata: Any = {}): object => ({
    apiVersion: 'monitoring.coreos.com/v1',
    kind,
    metadata: { name, ...metadata },
    spec,
  })
  await kubectl.send(
    'create',
    monitoring('Prometheus', 'main', {
      replicas: 2,
      serviceMonitorSelector: { matchLabels: { team: 'a' } },
      ruleSelector: {},
    }),
    monitoring('Alertmanager', 'alerts', { replicas: 3 }),
    monitoring(
      'ServiceMonitor',
      'shop',
      { selector: { matchLabels: { app: 'shop' } }, endpoints: [{ port: 'web' }] },
      { labels: { team: 'a' } },
    ),
    monitoring('PrometheusRule', 'rules', { groups: [{ name: 'up', rules: [{ alert: 'Down', expr: 'up == 0' }] }] }),
  )
  const available = (replicas: number) => (one: Any) =>
    holds('Available')(one) && holds('Reconciled')(one) && one.status.availableReplicas === replicas
  await seen(kubectl, 'prometheuses', 'main', available(2))
  await seen(kubectl, 'alertmanagers', 'alerts', available(3))
  await seen(kubectl, 'pods', 'prometheus-main-1', holds('Ready'))
  const configuration = async (): Promise<string> => {
    const { data } = await kubectl.json('get', 'secret', 'prometheus-main')
    return gunzipSync(Buffer.from(data['prometheus.yaml.gz'], 'base64')).toString()
  }
  assert.match(await configuration(), /serviceMonitor\/monitored\/shop\/0/)
  const rules = await kubectl.json('get', 'configmaps', '-l', 'prometheus-name=main')
  assert.match(JSON.stringify(rules), /alert: Down/)

  using secrets = kubectl.watch('secrets', 'prometheus-main')
  await kubectl('delete', 'servicemonitor', 'shop')
  await secrets.until(({ type }) => type === 'MODIFIED')
  assert.doesNotMatch(await configuration(), /monitored\/shop/)
  await kubectl('patch', 'prometheus', 'main', '--type=merge', '-p', '{"spec":{"replicas":1,"logLevel":"debug"}}')
  await seen(
    kubectl,
    'statefulsets',
    'prometheus-main',
    ({ metadata, spec, status }) =>
      spec.replicas === 1 &&
      status.observedGeneration === metadata.generation &&
      status.updatedReplicas === 1 &&
      status.readyReplicas === 1 &&
      status.replicas === 1,
  )
  await seen(kubectl, 'prometheuses', 'main', available(1))
  const pod = await kubectl.json('get', 'pod', 'prometheus-main-0')
  assert.ok(JSON.stringify(pod.spec.containers).includes('--log.level=debug'))
  const kubelets = await cluster.kubectl.json('get', 'endpoints', 'kubelet', '-n', 'kube-system')
  assert.equal(kubelets.subsets[0].addresses.length, 2)

  await kubectl('delete', 'prometheus,alertmanager', '--all', '--cascade=foreground')
  for (const resource of ['statefulsets', 'pods', 'controllerrevisions'])
    assert.deepEqual((await kubectl.json('get', resource)).items, [])
  await cluster.kubectl('delete', 'namespace', 'monitored')
})

test('JobSet runs sets of Jobs behind its webhooks, with a certificate of cert-manager', {
  skip: skip || lacks.address(),
}, async () => {
  const address = addressBeyondLoopback() ?? ''
  const port = await freePort(address)
  await install(join(await folderOf(modules.certManager), 'deploy/crds'))
  start('cert-manager')
  const system = 'jobset-system'
  await installJobSet(address, port)
  const inside = kubectlFor(cluster.kubeconfig, system)
  const host = `jobset-webhook-service.${system}.svc`
  await inside.send('create', issuer('self', { selfSigned: {} }), certificate('webhook', 'self', { dnsNames: [host] }))
  for (const kind of ['mutating', 'validating'])
    await cluster.kubectl(
      'annotate',
      `${kind}webhookconfiguration`,
      `jobset-${kind}-webhook-configuration`,
      `cert-manager.io/inject-ca-from=${system}/webhook`,
    )
  await seen(inside, 'certificates.cert-manager.io', 'webhook', holds('Ready'))
  const { data } = await inside.json('get', 'secret', 'webhook')
  // What the kubelet would do with the volume of its pod.
  const certificates = join(folder, 'jobset')
  mkdirSync(certificates)
  for (const name of ['tls.crt', 'tls.key'])
    writeFileSync(join(certificates, name), Buffer.from(data[name], 'base64'), { mode: 0o600 })
  const configuration = join(folder, 'jobset.json')
  writeFileSync(
    configuration,
    JSON.stringify({
      apiVersion: 'config.jobset.x-k8s.io/v1alpha1',
      kind: 'Configuration',
      webhook: { host: address, port, certDir: certificates },
      metrics: { bindAddress: '0' },
      health: { healthProbeBindAddress: '0' },
      leaderElection: { leaderElect: false },
      internalCertManagement: { enable: false },
    }),
  )
  start('jobset', `--config=${configuration}`)

  const kubectl = await cluster.namespace('sets')
  const jobSet = (name: string, annotations: Any, more: Any = {}): object => ({
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name },
    spec: {
      replicatedJobs: [
        { name: 'driver', replicas: 1, template: job(1, annotations) },
        { name: 'workers', replicas: 2, template: job(2, annotations) },
      ],
      ...more,
    },
  })
  await webhooksServe(kubectl, jobSet('probe', {}))
  await kubectl.send('create', jobSet('done', { 'sim.skiff.dev/exit-after': '1s' }))
  const done = await seen(kubectl, 'jobsets', 'done', holds('Completed'))
  assert.equal(done.spec.successPolicy.operator, 'All')
  assert.equal(done.spec.replicatedJobs[1].template.spec.completionMode, 'Indexed')
  assert.deepEqual(
    (await kubectl.json('get', 'jobs', '-l', 'jobset.sigs.k8s.io/jobset-name=done')).items
      .map((one: Any) => one.metadata.name)
      .sort(),
    ['done-driver-0', 'done-workers-0', 'done-workers-1'],
  )

  await kubectl.send(
    'create',
    jobSet(
      'failing',
      { 'sim.skiff.dev/exit-after': '0s', 'sim.skiff.dev/exit-code': '3' },
      { failurePolicy: { maxRestarts: 1 } },
    ),
  )
  const failed = await seen(kubectl, 'jobsets', 'failing', holds('Failed'))
  assert.equal(failed.status.restarts, 1)

  await kubectl.send('create', jobSet('lasting', { 'sim.skiff.dev/exit-after': 'never' }))
  await seen(kubectl, 'jobsets', 'lasting', ({ status }) =>
    status?.replicatedJobsStatus?.some((one: Any) => one.name === 'workers' && one.ready === 2),
  )
  assert.equal((await kubectl.json('get', 'service', 'lasting')).spec.clusterIP, 'None')
  const pods = (await kubectl.json('get', 'pods', '-l', 'jobset.sigs.k8s.io/jobset-name=lasting')).items
  assert.equal(pods.length, 5)
  assert.ok(pods.every((pod: Any) => pod.spec.subdomain === 'lasting'))
  const refused = await kubectl.run([
    'patch',
    'jobset',
    'lasting',
    '--type=json',
    '-p',
    '[{"op":"replace","path":"/spec/replicatedJobs/0/name","value":"other"}]',
  ])
  assert.match(refused.err, /admission webhook "vjobset.kb.io" denied the request|immutable/)
  await kubectl('patch', 'jobset', 'lasting', '--type=merge', '-p', '{"spec":{"suspend":true}}')
  await seen(kubectl, 'jobsets', 'lasting', holds('Suspended'))
  await kubectl('wait', '--for=delete', 'pods', '-l', 'jobset.sigs.k8s.io/jobset-name=lasting')
  await kubectl('delete', 'jobsets', '--all', '--cascade=foreground')
  for (const resource of ['jobs', 'pods', 'services']) assert.deepEqual((await kubectl.json('get', resource)).items, [])
})

const job = (parallelism: number, annotations: Any): object => ({
  spec: {
    parallelism,
    completions: parallelism,
    backoffLimit: 0,
    template: {
      metadata: { annotations },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
    },
  },
})

/** JobSet's manifests but its Deployment: the manager runs on this machine, and the Service of its webhooks leads to it. */
async function installJobSet(address: string, port: number): Promise<void> {
  const [{ input = '' } = {}] = await manifestsOf(software.jobSet)
  const objects = parseAllDocuments(input)
    .map((document) => document.toJS())
    .filter(({ kind }) => kind !== 'Deployment')
    .map((object) =>
      object.kind === 'Service' ? { ...object, spec: { ...object.spec, selector: undefined } } : object,
    )
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: 'jobset-webhook-service-here',
      namespace: 'jobset-system',
      labels: { 'kubernetes.io/service-name': 'jobset-webhook-service' },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address] }],
    ports: [{ port }],
  }
  const all = [...objects, slice].map((object) => JSON.stringify(object)).join('\n---\n')
  await kubectlIn(cluster)(['apply', '--server-side', '-f', '-'], all)
  await kubectlIn(cluster)(['wait', '--for=condition=Established', 'customresourcedefinitions', '--all'])
}

/** Until its manager is ready, JobSet's webhooks refuse every set: they fail closed. */
async function webhooksServe(kubectl: Kubectl, set: object): Promise<void> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const { code, err } = await kubectl.run(['create', '--dry-run=server', '-f', '-'], JSON.stringify(set))
    if (code === 0) return
    for (const operator of running) operator.check()
    if (performance.now() > deadline) throw new Error(`JobSet's webhooks never answered: ${err}`)
    await pause(200)
  }
}

function freePort(address: string): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, address, () => {
      const found = server.address()
      server.close(() => resolve(typeof found === 'object' && found !== null ? found.port : 0))
    })
  })
}
