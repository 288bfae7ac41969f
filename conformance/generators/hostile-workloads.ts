/** Bodies of services, workloads, volumes and other kinds that users write most. */
import { type Kind, labels, namespaced, podSpec, template } from './hostile-parts.ts'
import { repeated } from './hostile-requests.ts'

export const workloadKinds: readonly Kind[] = [
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
]
