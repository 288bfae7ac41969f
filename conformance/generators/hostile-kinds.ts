/** Values that each kind must refuse, or take, in Kubernetes' words: limits, wrong units, escapes, contradictions. */
import type { Step } from '../recording.ts'
import { json, POST, repeated } from './hostile-requests.ts'

type Fields = Record<string, unknown>

const container = (more: Fields = {}): Fields => ({ name: 'c', image: 'i', ...more })
const podSpec = (more: Fields = {}, inner: Fields = {}): Fields => ({ containers: [container(inner)], ...more })
const labels = { a: 'b' }
const template = (spec: Fields = podSpec()): Fields => ({ metadata: { labels }, spec })

const pods: readonly Fields[] = [
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

type Kind = readonly [path: string, apiVersion: string, kind: string, bodies: readonly Fields[]]
const namespaced = (base: string, resource: string) => `${base}/namespaces/$NS/${resource}`

const kinds: readonly Kind[] = [
  [
    namespaced('/api/v1', 'services'),
    'v1',
    'Service',
    [
      {},
      { spec: null },
      { spec: {} },
      { spec: { ports: [] } },
      {
        spec: { ports: [{ port: 0 }, { port: 65536 }, { port: 80, targetPort: 'UPPER' }, { port: 80, protocol: 'x' }] },
      },
      { spec: { type: 'bogus', ports: [{ port: 80 }] } },
      { spec: { clusterIP: 'x', ports: [{ port: 80 }] } },
      { spec: { clusterIP: '1.2.3.4', ports: [{ port: 80 }] } },
      { spec: { clusterIP: 'None', type: 'NodePort', ports: [{ port: 80 }] } },
      { spec: { clusterIPs: ['None', '10.96.0.9'], ports: [{ port: 80 }] } },
      { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 1 }] } },
      { spec: { ports: [{ port: 80, nodePort: 30000 }] } },
      { spec: { type: 'ExternalName' } },
      { spec: { type: 'ExternalName', externalName: 'a..b', ports: [{ port: 80 }] } },
      { spec: { ports: [{ port: 80 }], externalIPs: ['127.0.0.1', 'x', '0.0.0.0', '::1'] } },
      {
        spec: {
          ports: [{ port: 80 }],
          sessionAffinity: 'x',
          sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
        },
      },
      { spec: { ports: [{ port: 80 }], ipFamilies: ['IPv6'], ipFamilyPolicy: 'x' } },
      { spec: { ports: [{ port: 80 }], ipFamilyPolicy: 'RequireDualStack' } },
      { spec: { ports: [{ port: 80 }], selector: { 'a b': 'c d' } } },
      {
        spec: {
          ports: [{ port: 80 }],
          internalTrafficPolicy: 'x',
          externalTrafficPolicy: 'Local',
          healthCheckNodePort: 30001,
        },
      },
      {
        spec: {
          type: 'LoadBalancer',
          ports: [{ port: 80 }],
          loadBalancerSourceRanges: ['x'],
          loadBalancerIP: 'x',
          loadBalancerClass: 'A B',
        },
      },
      { spec: { ports: [{ port: 80 }], trafficDistribution: 'x', publishNotReadyAddresses: 'x' } },
    ],
  ],
  [
    namespaced('/apis/apps/v1', 'deployments'),
    'apps/v1',
    'Deployment',
    [
      {},
      { spec: {} },
      { spec: { selector: {}, template: template() } },
      { spec: { selector: { matchLabels: { z: 'z' } }, template: template() } },
      { spec: { replicas: -1, selector: { matchLabels: labels }, template: template() } },
      { spec: { selector: { matchLabels: labels }, template: template(podSpec({ restartPolicy: 'Never' })) } },
      {
        spec: {
          selector: { matchLabels: labels },
          template: template(),
          strategy: { type: 'Recreate', rollingUpdate: {} },
        },
      },
      {
        spec: {
          selector: { matchLabels: labels },
          template: template(),
          strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
        },
      },
      {
        spec: {
          selector: { matchLabels: labels },
          template: template(),
          strategy: { rollingUpdate: { maxSurge: 'x%', maxUnavailable: '200%' } },
        },
      },
      {
        spec: {
          selector: { matchLabels: labels },
          template: template(),
          minReadySeconds: 700,
          progressDeadlineSeconds: 600,
          revisionHistoryLimit: -1,
        },
      },
      {
        spec: {
          selector: {
            matchExpressions: [
              { key: 'a', operator: 'Exists', values: ['x'] },
              { key: 'b', operator: 'In' },
              { operator: 'x' },
            ],
          },
          template: template(),
        },
      },
    ],
  ],
  [
    namespaced('/apis/apps/v1', 'statefulsets'),
    'apps/v1',
    'StatefulSet',
    [
      {
        spec: {
          selector: { matchLabels: labels },
          template: template(),
          podManagementPolicy: 'x',
          updateStrategy: { type: 'x' },
          ordinals: { start: -1 },
        },
      },
      {
        spec: {
          selector: { matchLabels: labels },
          template: template(),
          serviceName: 'A B',
          volumeClaimTemplates: [{ metadata: { name: 'A' }, spec: {} }],
        },
      },
      {
        spec: {
          selector: { matchLabels: labels },
          template: template(),
          updateStrategy: { rollingUpdate: { partition: -1, maxUnavailable: 0 } },
        },
      },
    ],
  ],
  [
    namespaced('/apis/batch/v1', 'jobs'),
    'batch/v1',
    'Job',
    [
      { spec: {} },
      { spec: { template: template(podSpec()) } },
      {
        spec: {
          template: template(podSpec({ restartPolicy: 'Never' })),
          parallelism: -1,
          completions: -1,
          backoffLimit: -1,
          ttlSecondsAfterFinished: -1,
        },
      },
      { spec: { template: template(podSpec({ restartPolicy: 'Never' })), completionMode: 'x' } },
      { spec: { template: template(podSpec({ restartPolicy: 'Never' })), completionMode: 'Indexed' } },
      {
        spec: {
          template: template(podSpec({ restartPolicy: 'Never' })),
          completionMode: 'Indexed',
          completions: 100001,
          parallelism: 100001,
        },
      },
      { spec: { template: template(podSpec({ restartPolicy: 'Never' })), selector: { matchLabels: labels } } },
      { spec: { template: template(podSpec({ restartPolicy: 'Never' })), manualSelector: true } },
      {
        spec: {
          template: template(podSpec({ restartPolicy: 'OnFailure' })),
          podFailurePolicy: { rules: [{ action: 'x' }] },
        },
      },
    ],
  ],
  [
    namespaced('/apis/batch/v1', 'cronjobs'),
    'batch/v1',
    'CronJob',
    [
      ...[
        '',
        'x',
        '* * * * * *',
        '@every 1s',
        '@every',
        '@reboot',
        '61 * * * *',
        '*/0 * * * *',
        'TZ=UTC * * * * *',
        '* * * * MON-',
        '1-0 * * * *',
      ].map((schedule) => ({
        spec: { schedule, jobTemplate: { spec: { template: template(podSpec({ restartPolicy: 'Never' })) } } },
      })),
      {
        spec: {
          schedule: '* * * * *',
          timeZone: 'Mars/Phobos',
          concurrencyPolicy: 'x',
          startingDeadlineSeconds: -1,
          successfulJobsHistoryLimit: -1,
          jobTemplate: { spec: { template: template(podSpec({ restartPolicy: 'Never' })) } },
        },
      },
      {
        spec: {
          schedule: '* * * * *',
          timeZone: '',
          jobTemplate: { spec: { template: template(podSpec({ restartPolicy: 'Never' })) } },
        },
      },
    ],
  ],
  [
    namespaced('/api/v1', 'secrets'),
    'v1',
    'Secret',
    [
      { data: { a: 'not base64!' } },
      { data: { 'a b': 'eA==' } },
      { stringData: { a: 5 } },
      { stringData: { a: 'x' }, data: { a: 'eQ==' } },
      { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'x' } },
      { type: 'kubernetes.io/dockerconfigjson' },
      { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '[]' } },
      { type: 'kubernetes.io/basic-auth' },
      { type: 'kubernetes.io/ssh-auth' },
      { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x' } },
      { type: 'kubernetes.io/service-account-token' },
      { type: 'a'.repeat(300), immutable: null },
      { data: { a: repeated('eA', 700_000) } },
    ],
  ],
  [
    namespaced('/apis/networking.k8s.io/v1', 'ingresses'),
    'networking.k8s.io/v1',
    'Ingress',
    [
      {},
      { spec: {} },
      { spec: { defaultBackend: {} } },
      { spec: { rules: [{ host: '*.*.a', http: { paths: [] } }] } },
      {
        spec: {
          rules: [
            {
              host: '1.2.3.4',
              http: { paths: [{ path: 'x', pathType: 'Exact', backend: { service: { name: 'A', port: {} } } }] },
            },
          ],
        },
      },
      {
        spec: {
          rules: [
            {
              http: {
                paths: [
                  {
                    path: '/a/../b//c/%2f',
                    pathType: 'Prefix',
                    backend: { service: { name: 's', port: { number: 80, name: 'x' } } },
                  },
                  { path: '/', pathType: 'x', backend: { resource: { kind: 'K', name: 'n' } } },
                ],
              },
            },
          ],
        },
      },
      {
        spec: {
          ingressClassName: 'A B',
          tls: [{ hosts: ['*', 'a..b'], secretName: 'A' }],
          defaultBackend: { service: { name: 's', port: { number: 70000 } } },
        },
      },
    ],
  ],
  [
    namespaced('/apis/networking.k8s.io/v1', 'networkpolicies'),
    'networking.k8s.io/v1',
    'NetworkPolicy',
    [
      {},
      { spec: { podSelector: { matchLabels: { 'a b': 'c' } }, policyTypes: ['x', 'Ingress', 'Egress', 'Egress'] } },
      {
        spec: {
          podSelector: {},
          ingress: [
            {
              from: [
                {},
                { ipBlock: { cidr: 'x' } },
                { ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/8', 'y'] }, podSelector: {} },
              ],
              ports: [{ port: 'UPPER!', protocol: 'x' }, { port: 90, endPort: 80 }, { endPort: 5 }],
            },
          ],
        },
      },
    ],
  ],
  [
    namespaced('/apis/policy/v1', 'poddisruptionbudgets'),
    'policy/v1',
    'PodDisruptionBudget',
    [
      {},
      { spec: { minAvailable: 1, maxUnavailable: 1 } },
      { spec: { minAvailable: -1 } },
      { spec: { minAvailable: '101%' } },
      { spec: { minAvailable: 'x' } },
      { spec: { minAvailable: '1' } },
      { spec: { selector: { matchExpressions: [{ key: 'a', operator: 'x' }] }, unhealthyPodEvictionPolicy: 'x' } },
    ],
  ],
  [
    namespaced('/apis/autoscaling/v2', 'horizontalpodautoscalers'),
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    [
      {},
      { spec: { maxReplicas: 0, minReplicas: -1, scaleTargetRef: {} } },
      { spec: { maxReplicas: 1, minReplicas: 2, scaleTargetRef: { kind: 'A/B', name: '..', apiVersion: 'a/b/c' } } },
      {
        spec: {
          maxReplicas: 1,
          scaleTargetRef: { kind: 'D', name: 'd' },
          metrics: [
            { type: 'x' },
            { type: 'Resource' },
            {
              type: 'Resource',
              resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 0, averageValue: '1' } },
            },
          ],
        },
      },
      {
        spec: {
          maxReplicas: 1,
          scaleTargetRef: { kind: 'D', name: 'd' },
          behavior: {
            scaleUp: {
              stabilizationWindowSeconds: 9999,
              selectPolicy: 'x',
              policies: [{ type: 'x', value: 0, periodSeconds: 9999 }],
            },
            scaleDown: { policies: [] },
          },
        },
      },
    ],
  ],
  [
    namespaced('/apis/rbac.authorization.k8s.io/v1', 'roles'),
    'rbac.authorization.k8s.io/v1',
    'Role',
    [
      { rules: [{}] },
      { rules: [{ verbs: [] }] },
      { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
      { rules: [{ verbs: ['get'], apiGroups: [''], resources: [] }] },
      { rules: [null] },
      { rules: 'x' },
    ],
  ],
  [
    namespaced('/apis/rbac.authorization.k8s.io/v1', 'rolebindings'),
    'rbac.authorization.k8s.io/v1',
    'RoleBinding',
    [
      {},
      { roleRef: { apiGroup: 'x', kind: 'x', name: '' } },
      { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: '..' } },
      {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
        subjects: [
          {},
          { kind: 'x', name: 'y' },
          { kind: 'User', name: '' },
          { kind: 'ServiceAccount', name: 'A' },
          { kind: 'ServiceAccount', name: 's', apiGroup: 'x' },
          { kind: 'Group', name: 'g', apiGroup: 'x' },
        ],
      },
    ],
  ],
  [
    namespaced('/api/v1', 'persistentvolumeclaims'),
    'v1',
    'PersistentVolumeClaim',
    [
      {},
      { spec: { accessModes: [] } },
      { spec: { accessModes: ['x'], resources: { requests: { storage: '-1' } } } },
      {
        spec: {
          accessModes: ['ReadWriteOnce', 'ReadWriteOncePod'],
          resources: { requests: { storage: '0' } },
          volumeMode: 'x',
          storageClassName: 'A B',
          dataSource: { kind: 'x', name: '' },
          selector: { matchExpressions: [{ key: 'a', operator: 'x' }] },
        },
      },
    ],
  ],
  [
    namespaced('/apis/coordination.k8s.io/v1', 'leases'),
    'coordination.k8s.io/v1',
    'Lease',
    [
      {},
      { spec: { leaseDurationSeconds: 0, leaseTransitions: -1, holderIdentity: '' } },
      { spec: { acquireTime: 'x' } },
      { spec: { acquireTime: '2026-01-01T00:00:00Z' } },
      { spec: { strategy: 'x', preferredHolder: 'y' } },
    ],
  ],
  [
    namespaced('/apis/discovery.k8s.io/v1', 'endpointslices'),
    'discovery.k8s.io/v1',
    'EndpointSlice',
    [
      {},
      { addressType: 'x', endpoints: [] },
      {
        addressType: 'IPv4',
        endpoints: [{ addresses: [] }, { addresses: ['x', '::1', '127.0.0.1', '10.0.0.1', '10.0.0.1'] }],
      },
      {
        addressType: 'IPv4',
        endpoints: [],
        ports: [{ name: 'A B' }, { name: 'a', port: 0 }, { name: 'a', port: 1, protocol: 'x', appProtocol: 'a b' }],
      },
      {
        addressType: 'FQDN',
        endpoints: [{ addresses: ['A..b'], hostname: 'A', nodeName: 'A B', deprecatedTopology: { a: 'b' } }],
      },
    ],
  ],
  [
    namespaced('/api/v1', 'events'),
    'v1',
    'Event',
    [
      {},
      { involvedObject: { namespace: 'other' } },
      { involvedObject: { namespace: '$NS' }, type: 'x', count: -1 },
      { eventTime: 'x', involvedObject: { namespace: '$NS' } },
      { involvedObject: { namespace: '$NS' }, eventTime: '2026-01-01T00:00:00.000000Z' },
    ],
  ],
  [
    namespaced('/apis/events.k8s.io/v1', 'events'),
    'events.k8s.io/v1',
    'Event',
    [
      {},
      { eventTime: '2026-01-01T00:00:00.000000Z' },
      {
        eventTime: '2026-01-01T00:00:00.000000Z',
        action: 'a'.repeat(129),
        reason: 'r',
        type: 'x',
        reportingController: 'A B',
        reportingInstance: 'i',
        regarding: { namespace: '$NS' },
        note: 'n'.repeat(1025),
      },
    ],
  ],
  [
    namespaced('/api/v1', 'limitranges'),
    'v1',
    'LimitRange',
    [
      {
        spec: {
          limits: [
            {
              type: 'Container',
              min: { cpu: '2' },
              max: { cpu: '1' },
              default: { cpu: '9' },
              defaultRequest: { cpu: '9' },
            },
            { type: 'x' },
            { type: 'PersistentVolumeClaim' },
            { type: 'Pod', default: { cpu: '1' } },
          ],
        },
      },
    ],
  ],
  [
    namespaced('/api/v1', 'resourcequotas'),
    'v1',
    'ResourceQuota',
    [
      {
        spec: {
          hard: { pods: '-1', 'a b': '1', bogus: '1', 'count/x': '1', 'requests.nvidia.com/gpu': '1.5' },
          scopes: ['x', 'BestEffort', 'NotBestEffort'],
        },
      },
    ],
  ],
  [
    namespaced('/api/v1', 'endpoints'),
    'v1',
    'Endpoints',
    [{ subsets: [{}] }, { subsets: [{ addresses: [{ ip: 'x' }, { ip: '127.0.0.1' }], ports: [{ port: 0 }] }] }],
  ],
  [
    namespaced('/api/v1', 'replicationcontrollers'),
    'v1',
    'ReplicationController',
    [
      {},
      { spec: { selector: {}, template: null } },
      { spec: { replicas: -1, selector: { z: 'z' }, template: template() } },
    ],
  ],
  ['/api/v1/namespaces', 'v1', 'Namespace', [{ spec: { finalizers: ['x'] } }, { status: { phase: 'x' } }]],
  [
    '/api/v1/nodes',
    'v1',
    'Node',
    [
      {
        spec: {
          podCIDR: 'x',
          taints: [
            { key: 'a b', effect: 'x' },
            { key: 'a', effect: 'NoSchedule' },
            { key: 'a', effect: 'NoSchedule' },
          ],
        },
      },
      { status: { capacity: { 'a b': '1', cpu: '-1' } } },
    ],
  ],
  [
    '/api/v1/persistentvolumes',
    'v1',
    'PersistentVolume',
    [
      {},
      {
        spec: {
          capacity: { storage: '0' },
          accessModes: ['x'],
          hostPath: { path: '..' },
          nfs: { server: '', path: 'x' },
          persistentVolumeReclaimPolicy: 'x',
          volumeMode: 'x',
          storageClassName: 'A B',
        },
      },
    ],
  ],
  [
    '/apis/scheduling.k8s.io/v1/priorityclasses',
    'scheduling.k8s.io/v1',
    'PriorityClass',
    [{ value: 2000000000 }, { value: 1000000001 }, { preemptionPolicy: 'x' }, { value: 1.5 }, {}],
  ],
  [
    '/apis/storage.k8s.io/v1/storageclasses',
    'storage.k8s.io/v1',
    'StorageClass',
    [
      {},
      {
        provisioner: 'A B',
        reclaimPolicy: 'x',
        volumeBindingMode: 'x',
        parameters: { '': 'x' },
        allowedTopologies: [{ matchLabelExpressions: [{ key: '', values: [] }] }],
      },
    ],
  ],
  [
    '/apis/node.k8s.io/v1/runtimeclasses',
    'node.k8s.io/v1',
    'RuntimeClass',
    [
      {},
      {
        handler: 'A_B',
        overhead: { podFixed: { cpu: '-1' } },
        scheduling: {
          nodeSelector: { 'a b': 'c' },
          tolerations: [
            { key: 'a', operator: 'x' },
            { key: 'a', operator: 'Exists' },
            { key: 'a', operator: 'Exists' },
          ],
        },
      },
    ],
  ],
  [
    '/apis/networking.k8s.io/v1/ingressclasses',
    'networking.k8s.io/v1',
    'IngressClass',
    [{}, { spec: { controller: 'A B', parameters: { kind: 'a/b', name: '', scope: 'x', namespace: 'y' } } }],
  ],
  [
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    'certificates.k8s.io/v1',
    'CertificateSigningRequest',
    [
      {},
      { spec: { request: 'eA==', signerName: 'x', usages: [] } },
      { spec: { request: null, signerName: 'a.b/c', usages: ['x', 'x'], expirationSeconds: 5 } },
      { spec: { request: '!!', signerName: 'kubernetes.io/legacy-unknown' } },
    ],
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration',
    [
      { webhooks: [{}] },
      {
        webhooks: [
          {
            name: 'x',
            clientConfig: { url: 'http://a', service: { name: 'x', namespace: 'y', path: 'x', port: 0 } },
            sideEffects: 'Some',
            admissionReviewVersions: ['x'],
            rules: [{ operations: ['x'], apiGroups: ['*', 'a'], apiVersions: [], resources: ['*/*', 'a'] }],
            failurePolicy: 'x',
            timeoutSeconds: 31,
          },
        ],
      },
      {
        webhooks: [
          {
            name: 'a.b.c',
            clientConfig: { url: 'https://u:p@a/?q#f' },
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            matchPolicy: 'x',
          },
        ],
      },
    ],
  ],
  [
    '/apis/apiregistration.k8s.io/v1/apiservices',
    'apiregistration.k8s.io/v1',
    'APIService',
    [{}, { spec: { group: 'g', version: 'v', groupPriorityMinimum: 0, versionPriority: 0 } }],
  ],
  [
    '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
    'flowcontrol.apiserver.k8s.io/v1',
    'FlowSchema',
    [
      {},
      {
        spec: {
          matchingPrecedence: 0,
          priorityLevelConfiguration: {},
          distinguisherMethod: { type: 'x' },
          rules: [
            { subjects: [], resourceRules: [] },
            { subjects: [{ kind: 'x' }], nonResourceRules: [{ verbs: [], nonResourceURLs: ['x'] }] },
          ],
        },
      },
    ],
  ],
  [
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    'authorization.k8s.io/v1',
    'SubjectAccessReview',
    [
      {},
      { spec: {} },
      { spec: { user: 'x' } },
      { spec: { user: 'x', resourceAttributes: {}, nonResourceAttributes: {} } },
      { spec: { user: 'x', resourceAttributes: { labelSelector: {} } } },
      { spec: { user: 'x', resourceAttributes: { fieldSelector: { rawSelector: '=', requirements: [{ key: '' }] } } } },
      {
        spec: {
          user: 'x',
          resourceAttributes: { labelSelector: { requirements: [{ key: 'a', operator: 'x', values: ['1'] }] } },
        },
      },
    ],
  ],
  [
    '/apis/authentication.k8s.io/v1/tokenreviews',
    'authentication.k8s.io/v1',
    'TokenReview',
    [
      {},
      { spec: {} },
      { spec: { token: '' } },
      { spec: { token: 'junk' } },
      { spec: { token: 'a.b.c', audiences: ['x'] } },
    ],
  ],
  [
    namespaced('/apis/authorization.k8s.io/v1', 'localsubjectaccessreviews'),
    'authorization.k8s.io/v1',
    'LocalSubjectAccessReview',
    [
      { spec: { user: 'x', nonResourceAttributes: { path: '/', verb: 'get' } } },
      { spec: { user: 'x', resourceAttributes: { namespace: 'other' } } },
    ],
  ],
  [
    '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    'authorization.k8s.io/v1',
    'SelfSubjectRulesReview',
    [{}, { spec: {} }],
  ],
]

/** Name and steps of each case: a dry run each, so that nothing is left. */
export function hostileKinds(): readonly (readonly [string, readonly Step[]])[] {
  const pod = (spec: Fields) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec })
  const reviews = /Review$/
  return [
    ...pods.map(
      (spec) =>
        [`Pod ${json(spec).slice(0, 110)}`, [POST('/api/v1/namespaces/$NS/pods?dryRun=All', pod(spec))]] as const,
    ),
    ...kinds.flatMap(([path, apiVersion, kind, bodies]) =>
      bodies.map((body) => {
        const metadata = reviews.test(kind) ? {} : { metadata: { name: 'x' } }
        return [
          `${kind} ${json(body).slice(0, 110)}`,
          [POST(`${path}?dryRun=All`, { apiVersion, kind, ...metadata, ...body })],
        ] as const
      }),
    ),
  ]
}
