/** Pod specs that must be refused, or taken, in Kubernetes' words. */
import { container, type Fields, podSpec } from './hostile-parts.ts'

export const pods: readonly Fields[] = [
  podSpec({}, { name: 'A' }),
  podSpec({}, { name: 'c'.repeat(64) }),
  podSpec({}, { image: '' }),
  podSpec({}, { image: ' i ' }),
  podSpec({}, { image: 'i\u0000' }),
  podSpec({ containers: [] }),
  podSpec({ containers: [container(), container()] }),
  podSpec({ containers: null }),
  podSpec({ containers: [null] }),
  podSpec({
    containers: Array.from({ length: 300 }, (_, i) =>
      container({ name: `c${i}`, ports: [{ containerPort: 80, hostPort: 80 }] }),
    ),
  }),
  ...[0, -1, 65536, 1.5, '80'].map((port) => podSpec({}, { ports: [{ containerPort: port }] })),
  podSpec(
    {},
    {
      ports: [
        { containerPort: 80, protocol: 'tcp' },
        { containerPort: 80, name: 'UPPER' },
        { containerPort: 81, name: 'a'.repeat(16) },
      ],
    },
  ),
  ...[
    '1e',
    '-1',
    '1Ki5',
    '٣',
    '0x10',
    '1e100',
    '',
    ' 1',
    '1 ',
    '1KB',
    '.5',
    '5.',
    '1e-9',
    '999999999999999999999',
    '0.0000000001',
    '+1',
    'Infinity',
    '1E',
    '1Ei',
  ].map((q) => podSpec({}, { resources: { requests: { cpu: q, memory: q } } })),
  podSpec({}, { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
  podSpec(
    {},
    { resources: { requests: { bogus: '1', 'a/b/c': '1', 'example.com/x': '1.5', 'hugepages-2Mi': '3Mi' } } },
  ),
  podSpec({}, { resources: { claims: [{ name: 'nope' }, { name: 'nope' }] } }),
  podSpec(
    {},
    { env: [{ name: 'A=B' }, { name: '' }, { name: '1x' }, { name: 'é' }, { name: 'A', value: 'x', valueFrom: {} }] },
  ),
  podSpec(
    {},
    {
      env: [
        { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.nope' } } },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } },
      ],
    },
  ),
  podSpec(
    {},
    {
      env: [
        { name: 'A', valueFrom: { secretKeyRef: { name: '../x', key: '../y' } } },
        { name: 'B', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } },
      ],
    },
  ),
  podSpec(
    {},
    {
      envFrom: [
        {},
        { configMapRef: { name: 'A_B' }, secretRef: { name: 'x' } },
        { prefix: '1=', configMapRef: { name: 'x' } },
      ],
    },
  ),
  podSpec(
    { volumes: [{ name: 'v', hostPath: { path: '../etc' } }] },
    {
      volumeMounts: [
        { name: 'v', mountPath: '' },
        { name: 'v', mountPath: '/a:b', subPath: '../x' },
        { name: 'nope', mountPath: '/x' },
        { name: 'v', mountPath: '/x', subPath: '/abs' },
      ],
    },
  ),
  podSpec({
    volumes: [
      { name: 'v' },
      { name: 'v', emptyDir: { sizeLimit: '-1' } },
      { name: 'A', hostPath: { path: '/', type: 'Bogus' }, emptyDir: {} },
    ],
  }),
  podSpec({
    volumes: [
      {
        name: 'v',
        configMap: {
          defaultMode: 512,
          items: [
            { key: '..', path: '../x' },
            { key: '', path: '/abs' },
          ],
        },
      },
    ],
  }),
  podSpec({
    volumes: [
      { name: 'v', projected: { sources: [{}, { serviceAccountToken: { path: '..', expirationSeconds: 5 } }] } },
    ],
  }),
  podSpec(
    {},
    { livenessProbe: { httpGet: { port: 'UPPER!', path: '', scheme: 'ftp' }, periodSeconds: -1, successThreshold: 3 } },
  ),
  podSpec(
    {},
    { livenessProbe: {}, readinessProbe: { exec: {}, tcpSocket: { port: 1 } }, startupProbe: { grpc: { port: 0 } } },
  ),
  podSpec({}, { lifecycle: { preStop: {}, postStart: { sleep: { seconds: -1 } } } }),
  podSpec(
    {},
    {
      securityContext: {
        runAsUser: -1,
        capabilities: { add: ['a b'] },
        privileged: true,
        allowPrivilegeEscalation: false,
        procMount: 'x',
        seccompProfile: { type: 'x' },
      },
    },
  ),
  podSpec({
    securityContext: {
      sysctls: [
        { name: 'A..b', value: 'x' },
        { name: 'net.x', value: '1' },
        { name: 'net/x', value: '1' },
      ],
      fsGroup: -1,
      supplementalGroups: [-5],
      windowsOptions: { hostProcess: true },
    },
  }),
  podSpec({ restartPolicy: 'always', dnsPolicy: 'x', preemptionPolicy: 'x' }),
  podSpec({ dnsPolicy: 'None' }),
  podSpec({
    dnsConfig: {
      nameservers: ['x', '1.1.1.1', '1.1.1.1', '1.1.1.1', '1.1.1.1'],
      searches: ['a_b', 'x'.repeat(300)],
      options: [{}],
    },
  }),
  podSpec({ hostAliases: [{ ip: 'x', hostnames: ['A B'] }] }),
  podSpec({ nodeSelector: { 'a b': 'c d' }, nodeName: 'A/B', hostname: 'A.B', subdomain: '-' }),
  podSpec({
    tolerations: [
      { operator: 'x' },
      { operator: 'Exists', value: 'v' },
      { key: 'a b', effect: 'x' },
      { key: 'k', tolerationSeconds: 5 },
    ],
  }),
  podSpec({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 101, preference: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
        ],
      },
    },
  }),
  podSpec({
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: '', labelSelector: { matchExpressions: [{ key: '', operator: 'Bogus', values: ['x'] }] } },
        ],
      },
    },
  }),
  podSpec({
    topologySpreadConstraints: [
      { maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'x' },
      { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 0 },
    ],
  }),
  podSpec({ terminationGracePeriodSeconds: -1, activeDeadlineSeconds: 0, priority: 5 }),
  podSpec({ priorityClassName: 'nope' }),
  podSpec({ serviceAccountName: 'nope' }),
  podSpec({ runtimeClassName: 'nope' }),
  podSpec({ schedulingGates: [{ name: '' }, { name: 'a b' }, { name: 'x.y/z' }, { name: 'x.y/z' }] }),
  podSpec({ readinessGates: [{ conditionType: 'a b' }], os: { name: 'beos' }, overhead: { cpu: '1' } }),
  podSpec({ hostNetwork: true }, { ports: [{ containerPort: 80, hostPort: 81 }] }),
  podSpec({ hostPID: true, shareProcessNamespace: true, hostUsers: false }),
  podSpec({
    ephemeralContainers: [container({ name: 'e' })],
    initContainers: [container({ name: 'c' }), container({ name: 'i', restartPolicy: 'Never' })],
  }),
  podSpec({ imagePullSecrets: [{ name: '' }, { name: 'A B' }, {}] }),
  podSpec({ resourceClaims: [{ name: 'a' }, { name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }] }),
  podSpec({ __proto__x: 1, constructor: {} }),
]
