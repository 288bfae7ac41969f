/** Sequences about lists and watches, and about who owns what. */
import type { Step } from '../recording.ts'
import { CM, configMap, DELETE, DEP, GET, PATCH, POST } from './hostile-requests.ts'
import { A, deletion, type Fields, foreign, M, make, type Named, S, workloads } from './semantic-parts.ts'

export function lists(): readonly Named[] {
  const some = ['a', 'b', 'c', 'd'].map((name) =>
    POST(CM, configMap(name, { data: { n: name } }, { labels: { l: name < 'c' ? '1' : '2' } })),
  )
  return [
    [
      'pages',
      [
        ...some,
        GET(`${CM}?limit=2`),
        GET(`${CM}?limit=2&continue={{4.metadata.continue}}`),
        GET(`${CM}?limit=3&continue={{4.metadata.continue}}`),
        POST(CM, configMap('bb')),
        DELETE(`${CM}/c`),
        GET(`${CM}?limit=2&continue={{4.metadata.continue}}`),
        GET(`${CM}?limit=1&labelSelector=l%3D2`),
        GET(`${CM}?limit=1&fieldSelector=metadata.name%3Dd`),
        GET(`${CM}?limit=100`),
        GET(`${CM}?limit=2&continue={{4.metadata.continue}}&resourceVersion=5`),
        GET(`${CM}?continue={{4.metadata.continue}}&resourceVersionMatch=Exact`),
        GET(`${CM}?limit=1&resourceVersion=0`),
      ],
    ],
    [
      'lists at versions',
      [
        ...some,
        PATCH(`${CM}/a`, M, { data: { n: 'z' } }),
        GET(`${CM}?resourceVersion={{1.metadata.resourceVersion}}&resourceVersionMatch=Exact`),
        GET(`${CM}?resourceVersion={{1.metadata.resourceVersion}}&resourceVersionMatch=Exact&limit=1`),
        GET(`${CM}?resourceVersion={{1.metadata.resourceVersion}}&resourceVersionMatch=NotOlderThan`),
        GET(`${CM}?resourceVersion={{1.metadata.resourceVersion}}`),
        GET(`${CM}?resourceVersion={{1.metadata.resourceVersion}}&limit=1`),
        GET(`${CM}?resourceVersion=0`),
        GET(`${CM}/a?resourceVersion=0`),
        GET(`${CM}/a?resourceVersion={{0.metadata.resourceVersion}}`),
        GET(`${CM}/a?resourceVersion=abc`),
      ],
    ],
    [
      'watches',
      [
        ...some,
        PATCH(`${CM}/a`, M, { metadata: { labels: { l: '2' } } }),
        PATCH(`${CM}/c`, M, { metadata: { labels: { l: '1' } } }),
        DELETE(`${CM}/b`),
        ...[
          '',
          '&labelSelector=l%3D1',
          '&labelSelector=l%3D2',
          '&labelSelector=!l',
          '&fieldSelector=metadata.name%3Da',
          '&fieldSelector=metadata.name!%3Da',
          '&limit=1',
          '&allowWatchBookmarks=true',
        ].map((q) => GET(`${CM}?watch=1&timeoutSeconds=1&resourceVersion={{0.metadata.resourceVersion}}${q}`)),
        GET(
          `/api/v1/watch/namespaces/$NS/configmaps/a?timeoutSeconds=1&resourceVersion={{0.metadata.resourceVersion}}`,
        ),
        GET(`${CM}/a?watch=1&timeoutSeconds=1&resourceVersion={{0.metadata.resourceVersion}}`),
        GET(`${CM}?watch=1&timeoutSeconds=1`),
        GET(`${CM}?watch=1&timeoutSeconds=1&resourceVersion=0&labelSelector=l%3D1`),
        GET(
          `${CM}?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=l%3D2`,
        ),
        GET(`${CM}?watch=1&timeoutSeconds=1&resourceVersion={{0.metadata.resourceVersion}}`, {
          accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
        }),
        GET(`${CM}?watch=1&timeoutSeconds=1&resourceVersion={{3.metadata.resourceVersion}}`, {
          accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
        }),
      ],
    ],
    [
      'deletecollection',
      [
        ...some,
        POST(CM, configMap('e', {}, { finalizers: ['example.com/f'] })),
        DELETE(`${CM}?labelSelector=l%3D1&dryRun=All`),
        DELETE(`${CM}?labelSelector=l%3D1`),
        DELETE(`${CM}?limit=1`),
        DELETE(`${CM}?fieldSelector=metadata.name%3Dnope`),
        DELETE(CM, deletion({ preconditions: { uid: foreign } })),
        DELETE(CM, deletion({ propagationPolicy: 'Orphan' })),
        GET(CM),
        DELETE(`${CM}?resourceVersion=0`),
        DELETE(`${CM}?watch=1`),
      ],
    ],
  ]
}

export function ownership(): readonly Named[] {
  const apply = (manager: string, spec: Fields, query = '') =>
    PATCH(`${DEP}/o?fieldManager=${manager}${query}`, A, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'o' },
      spec,
    })
  const containers = (...list: readonly Fields[]) => ({ template: { spec: { containers: list } } })
  const deployment = make(workloads[0]!)
  const on = (name: string, ...steps: readonly Step[]): Named => [
    `apply: ${name}`,
    [POST(`${DEP}?fieldManager=maker`, deployment), ...steps, GET(`${DEP}/o`)],
  ]
  return [
    on(
      "a container of one's own, then none",
      apply('x', containers({ name: 'd', image: 'd' })),
      apply('x', { replicas: 1 }),
    ),
    on(
      'a conflict of images, forced',
      apply('x', containers({ name: 'c', image: 'z' })),
      apply('x', containers({ name: 'c', image: 'z' }), '&force=true'),
      apply('x', {}),
    ),
    on(
      'ports keyed by number and protocol',
      apply('x', containers({ name: 'c', ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }] })),
      apply('x', containers({ name: 'c', ports: [{ containerPort: 80, protocol: 'UDP', name: 'u' }] })),
    ),
    on('keys twice', apply('x', containers({ name: 'd', image: 'a' }, { name: 'd', image: 'b' }))),
    on('a key left out', apply('x', containers({ image: 'a' }))),
    on(
      'an atomic list',
      apply('x', containers({ name: 'c', command: ['a', 'b'] })),
      apply('y', containers({ name: 'c', command: ['b'] })),
      apply('y', containers({ name: 'c', command: ['b'] }), '&force=true'),
    ),
    on(
      'an atomic map',
      apply('x', { selector: { matchLabels: { a: 'b', c: 'd' } } }),
      apply('x', { selector: { matchLabels: { a: 'b' } } }),
    ),
    on(
      'equal values are shared',
      apply('x', containers({ name: 'c', image: 'i' })),
      apply('y', containers({ name: 'c', image: 'i' })),
      apply('x', {}),
      apply('y', {}),
    ),
    on(
      'null is nothing',
      apply('x', { replicas: null }),
      apply('x', { replicas: 2 }, '&force=true'),
      apply('x', { replicas: null }),
    ),
    on(
      'env and volumes',
      apply('x', {
        template: {
          spec: {
            containers: [
              { name: 'c', env: [{ name: 'A', value: '1' }], volumeMounts: [{ name: 'v', mountPath: '/v' }] },
            ],
            volumes: [{ name: 'v', emptyDir: {} }],
          },
        },
      }),
      apply('x', { template: { spec: { containers: [{ name: 'c', env: [{ name: 'B', value: '1' }] }] } } }),
    ),
    on(
      'an update takes over',
      apply('x', { replicas: 4 }, '&force=true'),
      PATCH(`${DEP}/o?fieldManager=u`, M, { spec: { replicas: 5 } }),
      apply('x', { replicas: 4 }),
      apply('x', { replicas: 5 }),
    ),
    on('wrong types', apply('x', { replicas: 'many' }), apply('x', { template: [] }), apply('x', { nope: 1 })),
    on(
      'entries cleared',
      PATCH(`${DEP}/o`, M, { metadata: { managedFields: [{}] } }),
      apply('x', { replicas: 1 }),
      PATCH(`${DEP}/o?fieldManager=z`, M, { spec: { replicas: 2 } }),
    ),
    on(
      'strategic directives',
      PATCH(`${DEP}/o`, S, {
        spec: {
          template: {
            spec: {
              containers: [{ name: 'd', image: 'd' }],
              '$setElementOrder/containers': [{ name: 'd' }, { name: 'c' }],
            },
          },
        },
      }),
      PATCH(`${DEP}/o`, S, { spec: { template: { spec: { containers: [{ name: 'c', $patch: 'delete' }] } } } }),
      PATCH(`${DEP}/o`, S, {
        spec: { template: { spec: { containers: [{ $patch: 'replace' }, { name: 'e', image: 'e' }] } } },
      }),
      PATCH(`${DEP}/o`, S, { spec: { strategy: { $patch: 'replace', type: 'Recreate' } } }),
    ),
    on(
      'strategic lists of values',
      PATCH(`${DEP}/o`, S, { metadata: { finalizers: ['x.y/a', 'x.y/b'] } }),
      PATCH(`${DEP}/o`, S, { metadata: { finalizers: ['x.y/c'], '$setElementOrder/finalizers': ['x.y/c', 'x.y/a'] } }),
      PATCH(`${DEP}/o`, S, { metadata: { '$deleteFromPrimitiveList/finalizers': ['x.y/a', 'x.y/b', 'x.y/c'] } }),
    ),
  ]
}
