/** Values that each kind must refuse, or take, in Kubernetes' words: limits, wrong units, escapes, contradictions. */
import type { Step } from '../recording.ts'
import { clusterKinds } from './hostile-cluster-kinds.ts'
import type { Fields } from './hostile-parts.ts'
import { pods } from './hostile-pods.ts'
import { json, POST } from './hostile-requests.ts'
import { workloadKinds } from './hostile-workloads.ts'

/** Name and steps of each case: a dry run each, so that nothing is left. */
export function hostileKinds(): readonly (readonly [string, readonly Step[]])[] {
  const pod = (spec: Fields) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec })
  const reviews = /Review$/
  return [
    ...pods.map(
      (spec) =>
        [`Pod ${json(spec).slice(0, 110)}`, [POST('/api/v1/namespaces/$NS/pods?dryRun=All', pod(spec))]] as const,
    ),
    ...[...workloadKinds, ...clusterKinds].flatMap(([path, apiVersion, kind, bodies]) =>
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
