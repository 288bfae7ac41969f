/** Sequences about pods: eviction, binding, ephemeral containers, resizing, deletion. */
import { DELETE, GET, PATCH, POD, POST } from './hostile-requests.ts'
import { type Fields, J, M, type Named, podSpec, S } from './semantic-parts.ts'

export function podStories(): readonly Named[] {
  const pod = (meta: Fields = {}, spec: Fields = {}) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'o', ...meta },
    spec: { ...podSpec, ...spec },
  })
  const bound = { nodeName: 'nowhere' }
  return [
    [
      'Pod: grace shortened, prolonged, over',
      [
        POST(POD, pod({}, bound)),
        DELETE(`${POD}/o?gracePeriodSeconds=20`),
        DELETE(`${POD}/o?gracePeriodSeconds=30`),
        DELETE(`${POD}/o?gracePeriodSeconds=10`),
        DELETE(`${POD}/o`),
        PATCH(`${POD}/o`, M, { metadata: { deletionGracePeriodSeconds: 0 } }),
        DELETE(`${POD}/o?gracePeriodSeconds=0`),
        GET(`${POD}/o`),
      ],
    ],
    [
      'Pod: finished, with a finalizer',
      [
        POST(POD, pod({ finalizers: ['example.com/f'] }, bound)),
        PATCH(`${POD}/o/status`, M, { status: { phase: 'Succeeded' } }),
        DELETE(`${POD}/o`),
        PATCH(`${POD}/o/status`, M, { status: { phase: 'Failed' } }),
        PATCH(`${POD}/o`, M, { metadata: { finalizers: null } }),
        GET(`${POD}/o`),
      ],
    ],
    [
      'Pod: what may change',
      [
        POST(POD, pod()),
        PATCH(`${POD}/o`, M, { spec: { activeDeadlineSeconds: 9 } }),
        PATCH(`${POD}/o`, M, { spec: { activeDeadlineSeconds: 8 } }),
        PATCH(`${POD}/o`, M, { spec: { activeDeadlineSeconds: 10 } }),
        PATCH(`${POD}/o`, M, { spec: { activeDeadlineSeconds: null } }),
        PATCH(`${POD}/o`, S, { spec: { containers: [{ name: 'c', image: 'j' }] } }),
        PATCH(`${POD}/o`, J, [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'k', operator: 'Exists' } }]),
        PATCH(`${POD}/o`, M, { spec: { tolerations: [] } }),
        PATCH(`${POD}/o`, M, { spec: { terminationGracePeriodSeconds: 5 } }),
        PATCH(`${POD}/o`, M, { spec: { hostname: 'h' } }),
      ],
    ],
    [
      'Pod: status rules',
      [
        POST(POD, pod({}, bound)),
        PATCH(`${POD}/o/status`, M, { status: { podIP: 'x' } }),
        PATCH(`${POD}/o/status`, M, { status: { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] } }),
        PATCH(`${POD}/o/status`, M, { status: { podIP: '10.0.0.1' } }),
        PATCH(`${POD}/o/status`, M, { status: { qosClass: 'Guaranteed' } }),
        PATCH(`${POD}/o/status`, M, { status: { nominatedNodeName: 'A B' } }),
        PATCH(`${POD}/o/status`, M, {
          status: {
            containerStatuses: [
              {
                name: 'c',
                state: { terminated: { exitCode: 1 } },
                image: 'i',
                imageID: '',
                ready: false,
                restartCount: 0,
              },
            ],
          },
        }),
        PATCH(`${POD}/o/status`, M, {
          status: {
            containerStatuses: [
              { name: 'c', state: { running: {} }, image: 'i', imageID: '', ready: true, restartCount: 0 },
            ],
          },
        }),
        PATCH(`${POD}/o/status`, M, { spec: { nodeName: 'else' }, metadata: { labels: { a: 'b' } } }),
        GET(`${POD}/o/status`),
      ],
    ],
    [
      'Pod: gates and binding',
      [
        POST(POD, pod({}, { schedulingGates: [{ name: 'x.y/g' }] })),
        POST(`${POD}/o/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'o' },
          target: { kind: 'Node', name: 'n' },
        }),
        PATCH(`${POD}/o`, M, { spec: { nodeSelector: { a: 'b' } } }),
        PATCH(`${POD}/o`, M, { spec: { schedulingGates: [] } }),
        POST(`${POD}/o/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'o', annotations: { a: 'b' }, labels: { 'topology.kubernetes.io/zone': 'z' } },
          target: { kind: 'Node', name: 'n' },
        }),
        POST(`${POD}/o/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'o' },
          target: { kind: 'Node', name: 'm' },
        }),
        GET(`${POD}/o`),
      ],
    ],
    [
      'Pod: ephemeral containers',
      [
        POST(POD, pod({}, bound)),
        PATCH(`${POD}/o/ephemeralcontainers`, S, { spec: { ephemeralContainers: [{ name: 'e', image: 'e' }] } }),
        PATCH(`${POD}/o/ephemeralcontainers`, S, { spec: { ephemeralContainers: [{ name: 'e', image: 'f' }] } }),
        PATCH(`${POD}/o/ephemeralcontainers`, S, {
          spec: { ephemeralContainers: [{ name: 'f', image: 'f', targetContainerName: 'c' }] },
        }),
        PATCH(`${POD}/o/ephemeralcontainers`, M, { spec: { ephemeralContainers: [] } }),
        PATCH(`${POD}/o`, M, { spec: { ephemeralContainers: [] } }),
        GET(`${POD}/o/ephemeralcontainers`),
      ],
    ],
    [
      'Pod: resized',
      [
        POST(
          POD,
          pod({}, { ...bound, containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }] }),
        ),
        PATCH(`${POD}/o`, S, { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '200m' } } }] } }),
        PATCH(`${POD}/o/resize`, S, {
          spec: { containers: [{ name: 'c', resources: { requests: { cpu: '200m' } } }] },
        }),
        PATCH(`${POD}/o/resize`, S, { spec: { containers: [{ name: 'c', image: 'j' }] } }),
        PATCH(`${POD}/o/resize`, S, {
          spec: { containers: [{ name: 'c', resources: { limits: { memory: '1Gi' } } }] },
        }),
        GET(`${POD}/o`),
      ],
    ],
    [
      'Pod: selectors of fields',
      [
        POST(POD, pod({}, bound)),
        POST(POD, pod({ name: 'p' })),
        ...[
          'spec.nodeName%3Dnowhere',
          'spec.nodeName!%3Dnowhere',
          'status.phase%3DPending,spec.nodeName%3D',
          'spec.restartPolicy%3DNever',
          'status.podIP%3D10.0.0.1',
          'spec.schedulerName!%3Dx',
          'spec.nope%3D1',
          'metadata.namespace%3D$NS',
        ].map((s) =>
          GET(`${POD}?fieldSelector=${s}`, {
            accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
          }),
        ),
      ],
    ],
    [
      'Pod: evicted',
      [
        POST(POD, pod({ labels: { a: 'b' } }, bound)),
        POST(`${POD}/o/eviction`, {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: 'o' },
          deleteOptions: { dryRun: ['All'] },
        }),
        POST(`${POD}/o/eviction`, {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: 'o' },
          deleteOptions: { gracePeriodSeconds: 3 },
        }),
        GET(`${POD}/o`),
        POST(`${POD}/o/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'o' } }),
        GET(`${POD}/o`),
      ],
    ],
  ]
}
