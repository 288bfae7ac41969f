/**
 * What put together by chance (combinations.ts) was found to matter, asked for by itself: the class of a claim in its
 * annotation, what quotas may be of, ports that get in each other's way, and the order in which faults are told.
 */
import type { Case, Step } from '../recording.ts'
import { PATCH, POST } from './hostile-requests.ts'
import { APPARMOR, annotationCases, OWN_SECCOMP, ofTemplate, own, pod, SECCOMP } from './pod-annotations.ts'
import { M } from './semantic-parts.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
type Any = any

const CLASS = 'volume.beta.kubernetes.io/storage-class'
const CLAIMS = '/api/v1/namespaces/$NS/persistentvolumeclaims'
const claim = (name: string, annotations: Any, spec: Any = {}): Step =>
  POST(CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, annotations },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  })
const foreign = { kind: 'Foo', apiGroup: 'x.y', name: 's', namespace: 'o' }
const claims: readonly Step[] = [
  claim('a', {}),
  claim('b', { [CLASS]: 'x' }),
  claim('c', { [CLASS]: 'x' }, { storageClassName: 'k' }),
  claim('d', {}, { dataSourceRef: { kind: 'Foo', apiGroup: 'x.y', name: 's' } }),
  claim('e', {}, { dataSourceRef: foreign, dataSource: { kind: 'Pod', name: '' } }),
  ...['a', 'b', 'c'].flatMap((name) =>
    [
      { metadata: { annotations: { [CLASS]: 'q' } } },
      { metadata: { annotations: { [CLASS]: null } } },
      { metadata: { annotations: { [CLASS]: '' } } },
      { metadata: { annotations: { [CLASS]: null } }, spec: { storageClassName: 'x' } },
      { metadata: { annotations: { [CLASS]: 'x' } }, spec: { storageClassName: 'x' } },
    ].map((change) => PATCH(`${CLAIMS}/${name}?dryRun=All`, M, change)),
  ),
  PATCH(`${CLAIMS}/a?dryRun=All`, M, { spec: { dataSource: { kind: 'Foo', apiGroup: 'x.y', name: 's' } } }),
  PATCH(`${CLAIMS}/a?dryRun=All`, M, { spec: { dataSourceRef: foreign } }),
  PATCH(`${CLAIMS}/d?dryRun=All`, M, { spec: { dataSourceRef: foreign } }),
  PATCH(`${CLAIMS}/a?dryRun=All`, M, { spec: { accessModes: ['X', 'ReadWriteOncePod'] } }),
]

const p = { containerPort: 5 }
const ports = (first: Any, second: Any): Step =>
  ofTemplate(
    {},
    own({
      ports: [
        { ...p, ...first },
        { ...p, ...second },
      ],
    }),
  )
const clashes: readonly Step[] = [
  ports({}, {}),
  ports({ hostPort: 5 }, {}),
  ports({}, { hostPort: 5 }),
  ports({ hostPort: 5 }, { hostPort: 6 }),
  ports({ hostPort: 5, hostIP: '1.2.3.4' }, { hostPort: 5 }),
  ports({ hostPort: 5, hostIP: '1.2.3.4' }, { hostPort: 5, hostIP: '0.0.0.0' }),
  ports({}, { hostIP: '1.1.1.1' }),
  ports({ protocol: 'UDP' }, {}),
  ofTemplate(
    {},
    {
      ...own({ ports: [p, { ...p, name: 'q' }] }),
      initContainers: [{ name: 'n', image: 'i', ports: [p, { ...p, name: 'q' }] }],
    },
  ),
  ofTemplate(
    {
      [SECCOMP]: 'unconfined',
      [`${OWN_SECCOMP}c`]: 'unconfined',
      [`${OWN_SECCOMP}zz`]: 'unconfined',
      [`${APPARMOR}c`]: 'unconfined',
      'security.alpha.kubernetes.io/sysctls': '',
      'scheduler.alpha.kubernetes.io/critical-pod': '',
    },
    {
      ...own({ resources: { limits: { memory: '100m' } }, ports: [p, p] }),
      overhead: { memory: '100m' },
      terminationGracePeriodSeconds: -1,
    },
  ),
]

const quota = (name: string): Step =>
  POST('/api/v1/namespaces/$NS/resourcequotas?dryRun=All', {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard: { [name]: '2Gi' } },
  })
const quotas = ['', 'requests.', 'limits.', 'count/'].flatMap((prefix) =>
  ['cpu', 'storage', 'hugepages-2Mi', 'hugepages-', 'nvidia.com/gpu', 'foo', 'kubernetes.io/x', 'pods', 'a.b/c/d'].map(
    (name) => quota(prefix + name),
  ),
)

const wrong = {
  name: 'c',
  image: '',
  resources: { limits: { cpu: '-1' } },
  resizePolicy: [{ resourceName: 'e.com/x', restartPolicy: 'NotRequired' }],
  securityContext: { runAsUser: -1 },
  lifecycle: { preStop: { sleep: { seconds: 50 } } },
  livenessProbe: { tcpSocket: { port: 99999 } },
  restartPolicy: 'Zap',
  restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [] } }],
  imagePullPolicy: 'Z',
  env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'a', key: 'B' } } }],
  volumeDevices: [{ name: 'w', devicePath: '/d' }],
}
const WINDOWS = { os: { name: 'windows' } }
const huge = (whole: Any, container: Any): Step => pod({}, { resources: whole, ...own({ resources: container }) })
const pages = (size: string, more: Any = {}) => ({ limits: { 'hugepages-2Mi': size, ...more } })
const CPU = { cpu: '1' }
const hosted = (hostnameOverride: string, more: Any = {}): Step => pod({}, { hostnameOverride, ...more })

const faults: readonly Step[] = [
  pod(
    {},
    {
      containers: [wrong, { ...wrong, name: 'd' }],
      hostUsers: false,
      dnsPolicy: 'Z',
      schedulingGates: [{ name: 'a b' }],
    },
  ),
  pod({}, { initContainers: [wrong], hostUsers: false, hostPID: true }),
  pod({}, { initContainers: [{ ...wrong, restartPolicy: 'Always' }] }),
  pod(
    {},
    {
      restartPolicy: 'Z',
      hostPID: true,
      shareProcessNamespace: true,
      securityContext: { windowsOptions: { hostProcess: true }, sysctls: [{ name: 'x y' }], runAsUser: -1 },
      topologySpreadConstraints: [{}],
      hostUsers: false,
      hostnameOverride: 'A',
      hostname: 'h_',
      subdomain: 's_',
      tolerations: [{ operator: 'x' }],
    },
  ),
  pod(
    {},
    {
      ...WINDOWS,
      resources: { requests: CPU, claims: [{ name: 'z' }] },
      securityContext: { seLinuxChangePolicy: 'MountOption' },
    },
  ),
  pod({}, { resources: { requests: CPU, claims: [{ name: 'z' }] } }),
  pod({}, { resources: { claims: [{ name: 'z' }] }, resourceClaims: [{ name: 'z', resourceClaimName: 'r' }] }),
  pod(
    {},
    {
      ...own(wrong),
      volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 5 } }] } }],
    },
  ),
  huge(pages('2Mi'), pages('4Mi')),
  huge(pages('4Mi'), pages('2Mi', CPU)),
  huge(pages('2Mi', CPU), pages('4Mi', CPU)),
  huge(pages('6Mi', { memory: '1Gi' }), pages('4Mi', { memory: '1Gi' })),
  huge({ requests: CPU }, pages('2Mi', CPU)),
  ...['A', 'a.b.c', 'a_b', '', 'a..b', 'a'.repeat(64), 'a'.repeat(65)].map((name) => hosted(name)),
  hosted('a', { hostNetwork: true }),
  hosted('a', { setHostnameAsFQDN: true }),
  hosted('A', { hostNetwork: true, setHostnameAsFQDN: true, nodeName: 'N_' }),
  hosted('a', WINDOWS),
]

const sources: readonly Step[] = [
  { name: 'a', signerName: 'x.y/z', path: 'p' },
  { path: 'p' },
  { name: 'a', labelSelector: { matchLabels: { a: 'b' } }, path: 'p', optional: true },
  { name: '', signerName: '', path: 'p' },
].map((clusterTrustBundle) => pod({}, { volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle }] } }] }))

const ingress = (annotation: string | undefined, ingressClassName: string | undefined): Step =>
  POST('/apis/networking.k8s.io/v1/namespaces/$NS/ingresses?dryRun=All', {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'i', annotations: { 'kubernetes.io/ingress.class': annotation } },
    spec: { ingressClassName, defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  })
const service = (text: string, type: string): Step =>
  POST('/api/v1/namespaces/$NS/services?dryRun=All', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's', annotations: { 'service.beta.kubernetes.io/load-balancer-source-ranges': text } },
    spec: { type, ports: [{ port: 80 }] },
  })
const others: readonly Step[] = [
  ingress('c', 'c'),
  ingress('c', undefined),
  ingress('', 'x'),
  ingress('a', 'B_'),
  ...['1.2.3.4/8, x', ' 1.2.3.0/24 , 2.3.4.0/24 ', '1.2.3.0/24,', ''].flatMap((text) => [
    service(text, 'ClusterIP'),
    service(text, 'LoadBalancer'),
  ]),
]

export const detailCases = (): readonly Case[] => [
  ...annotationCases(),
  { name: 'claims, their annotated classes and sources', steps: claims },
  { name: 'ports that clash, and the order of warnings', steps: clashes },
  { name: 'names of what a quota is of', steps: quotas },
  { name: 'several faults of a pod at once', steps: faults },
  { name: 'sources of trust bundles', steps: sources },
  { name: 'annotations of ingresses and services', steps: others },
]
