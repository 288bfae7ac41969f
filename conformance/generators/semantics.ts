/**
 * Sequences about what requests mean together: watches, pages, ownership, patches, subresources, preconditions, the end of
 * objects.
 */
import type { Case } from '../recording.ts'
import { DELETE, GET, PATCH, POST, PUT } from './hostile-requests.ts'
import { lists, ownership } from './semantic-lists.ts'
import { A, all, deletion, first, foreign, J, M, make, type Named, S, workloads } from './semantic-parts.ts'
import { podStories } from './semantic-pods.ts'

/** The same story for each kind. */
function perKind(): readonly Named[] {
  return all.flatMap((k): readonly Named[] => {
    const at = `${k.path}/o`
    return [
      [
        `${k.kind}: preconditions and versions`,
        [
          POST(k.path, make(k)),
          PUT(at, make(k, { resourceVersion: first('metadata.resourceVersion'), labels: { l: '1' } })),
          PUT(at, make(k, { resourceVersion: first('metadata.resourceVersion'), labels: { l: '2' } })),
          PUT(at, make(k, { uid: foreign })),
          PUT(at, make(k, { labels: { l: '3' } })),
          PATCH(at, M, { metadata: { resourceVersion: first('metadata.resourceVersion') } }),
          DELETE(at, deletion({ preconditions: { resourceVersion: first('metadata.resourceVersion') } })),
          DELETE(at, deletion({ preconditions: { uid: foreign } })),
          DELETE(at, deletion({ gracePeriodSeconds: 0, preconditions: { uid: first('metadata.uid') } })),
          PUT(at, make(k, { labels: { l: '4' } })),
        ],
      ],
      [
        `${k.kind}: dry runs`,
        [
          POST(`${k.path}?dryRun=All`, make(k)),
          GET(at),
          POST(k.path, make(k)),
          POST(`${k.path}?dryRun=All`, make(k)),
          PATCH(`${at}?dryRun=All`, M, { metadata: { labels: { x: '1' } } }),
          DELETE(`${at}?dryRun=All`),
          DELETE(at, deletion({ dryRun: ['All'], propagationPolicy: 'Foreground' })),
          GET(at),
        ],
      ],
      [
        `${k.kind}: finalizers and a watch over its end`,
        [
          POST(k.path, make(k, { finalizers: ['example.com/f'] })),
          DELETE(at, deletion({ propagationPolicy: 'Foreground' })),
          POST(k.path, make(k)),
          PATCH(at, M, { metadata: { labels: { late: 'yes' } } }),
          PATCH(at, J, [{ op: 'remove', path: '/metadata/finalizers/0' }]),
          GET(at),
          PATCH(at, M, { metadata: { finalizers: null } }),
          GET(at),
          GET(`${k.path}?watch=1&timeoutSeconds=1&resourceVersion=${first('metadata.resourceVersion')}`),
        ],
      ],
      [
        `${k.kind}: applied by two`,
        [
          PATCH(`${at}?fieldManager=one`, A, make(k, { labels: { l: '1', m: '1' } })),
          PATCH(`${at}?fieldManager=two`, A, {
            apiVersion: k.apiVersion,
            kind: k.kind,
            metadata: { name: 'o', labels: { l: '2' } },
          }),
          PATCH(`${at}?fieldManager=two&force=true`, A, {
            apiVersion: k.apiVersion,
            kind: k.kind,
            metadata: { name: 'o', labels: { l: '2' } },
          }),
          PATCH(`${at}?fieldManager=one`, A, make(k)),
          PATCH(`${at}?fieldManager=two`, A, { apiVersion: k.apiVersion, kind: k.kind, metadata: { name: 'o' } }),
          GET(at),
        ],
      ],
      [
        `${k.kind}: unknown and repeated fields`,
        [
          POST(`${k.path}?dryRun=All&fieldValidation=Strict`, { ...make(k), bogus: 1 }),
          POST(`${k.path}?dryRun=All&fieldValidation=Ignore`, { ...make(k), bogus: 1 }),
          POST(k.path, { ...make(k), bogus: 1 }),
          PUT(`${at}?fieldValidation=Strict`, { ...make(k), bogus: 1 }),
          PATCH(`${at}?fieldValidation=Strict`, M, { bogus: 1 }),
          PATCH(`${at}?fieldValidation=Strict`, S, { bogus: 1 }),
          PATCH(at, M, { bogus: 1 }),
        ],
      ],
      [
        `${k.kind}: names generated, tables, metadata alone`,
        [
          POST(k.path, { ...make(k), metadata: { generateName: 'probe-gen-' } }),
          GET(k.path, { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }),
          GET(`${k.path}/${first('metadata.name')}`, {
            accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
          }),
          GET(`${k.path}?includeObject=None`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
          GET(`${k.path}?includeObject=Object&limit=1`, {
            accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
          }),
          DELETE(`${k.path}?fieldSelector=metadata.name%3D${first('metadata.name')}&gracePeriodSeconds=0`),
          GET(`${k.path}`),
        ],
      ],
    ]
  })
}

function workloadStories(): readonly Named[] {
  return workloads.flatMap((k): readonly Named[] => {
    const at = `${k.path}/o`
    const policies = ['Orphan', 'Background', 'Foreground']
    return [
      ...policies.map(
        (policy): Named => [
          `${k.kind}: deleted ${policy}, then otherwise`,
          [
            POST(k.path, make(k, { finalizers: ['example.com/f'] })),
            DELETE(at, deletion({ propagationPolicy: policy })),
            ...policies
              .filter((other) => other !== policy)
              .map((other) => DELETE(at, deletion({ propagationPolicy: other }))),
            DELETE(at, deletion({ orphanDependents: true })),
            DELETE(at, deletion({ orphanDependents: false })),
            DELETE(at),
            PATCH(at, M, { metadata: { finalizers: ['orphan', 'foregroundDeletion'] } }),
            PATCH(at, M, { metadata: { finalizers: [] } }),
            GET(at),
          ],
        ],
      ),
      [
        `${k.kind}: status apart`,
        [
          POST(k.path, make(k, {}, { status: { replicas: 7 } })),
          PUT(`${at}/status`, {
            ...make(k, { labels: { s: '1' }, annotations: { s: '1' } }),
            status: { replicas: 2, active: [], numberReady: 1 },
          }),
          PATCH(`${at}/status`, M, { spec: { replicas: 9, suspend: false }, status: { observedGeneration: 3 } }),
          PATCH(`${at}/status`, S, {
            status: {
              conditions: [
                { type: 'X', status: 'True' },
                { type: 'Y', status: 'False' },
              ],
            },
          }),
          PATCH(`${at}/status`, S, { status: { conditions: [{ type: 'X', status: 'Unknown' }] } }),
          PATCH(`${at}/status`, J, [{ op: 'replace', path: '/status/conditions', value: [] }]),
          PATCH(at, M, { status: { replicas: 5 } }),
          PATCH(`${at}/status?fieldManager=s`, A, {
            apiVersion: k.apiVersion,
            kind: k.kind,
            metadata: { name: 'o' },
            status: { replicas: 3 },
          }),
          GET(`${at}/status`),
        ],
      ],
      [
        `${k.kind}: scale`,
        [
          POST(k.path, make(k)),
          GET(`${at}/scale`),
          PATCH(`${at}/scale`, M, { spec: { replicas: 3 } }),
          GET(at),
          PUT(`${at}/scale`, {
            apiVersion: 'autoscaling/v1',
            kind: 'Scale',
            metadata: { name: 'o', namespace: '$NS' },
            spec: { replicas: 0 },
          }),
          GET(`${at}/scale`),
        ],
      ],
    ]
  })
}

export function semantics(): readonly Case[] {
  return [...perKind(), ...workloadStories(), ...lists(), ...ownership(), ...podStories()].map(([name, steps]) => ({
    name,
    steps,
  }))
}
