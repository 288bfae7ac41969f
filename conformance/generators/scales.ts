/** Who owns the replicas of a workload that is scaled: by PUT, by patches, by applying to its Scale and to itself. */
import type { Case, Step } from '../recording.ts'
import { GET, PATCH, POST, PUT } from './hostile-requests.ts'
import { A, type Fields, J, type Kind, M, make, workloads } from './semantic-parts.ts'

const kinds = workloads.filter(({ kind }) =>
  ['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController'].includes(kind),
)

const scale = (metadata: Fields, more: Fields = {}): Fields => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'o', ...metadata },
  ...more,
})
const wanting = (replicas: unknown, metadata: Fields = {}): Fields => scale(metadata, { spec: { replicas } })

function storiesOf(k: Kind): readonly (readonly [string, readonly Step[]])[] {
  const at = `${k.path}/o`
  const as = (manager: string, force = false) => `${at}/scale?fieldManager=${manager}${force ? '&force=true' : ''}`
  const apply = (manager: string, body: Fields, force = false) => PATCH(as(manager, force), A, body)
  const merge = (manager: string, body: Fields) => PATCH(as(manager), M, body)
  const see = GET(at)
  const made = POST(`${k.path}?fieldManager=maker`, make(k))
  return [
    [
      'applied by two',
      [
        made,
        apply('x', wanting(5), true),
        see,
        apply('y', wanting(5)),
        see,
        apply('y', wanting(6)),
        apply('x', wanting(6)),
        apply('x', scale({}), true),
        see,
        apply('y', scale({})),
        see,
        GET(`${at}/scale`),
      ],
    ],
    ['the same number, then another', [made, apply('x', wanting(1)), see, apply('x', wanting(2)), see]],
    [
      'refused, then patched',
      [
        made,
        apply('x', wanting(3)),
        see,
        merge('z', scale({})),
        see,
        merge('z', wanting(7)),
        see,
        apply('x', wanting(4)),
        PATCH(`${as('x', true)}&dryRun=All`, A, wanting(4)),
        see,
      ],
    ],
    [
      'patched by others',
      [
        made,
        merge('z', wanting(7)),
        see,
        merge('y', wanting(7)),
        see,
        merge('y', wanting(8)),
        see,
        PATCH(as('w'), J, [{ op: 'replace', path: '/spec/replicas', value: 3 }]),
        see,
      ],
    ],
    ['replaced', [made, PUT(as('p'), wanting(1)), see, PUT(as('p'), wanting(4)), see, PUT(as('q'), wanting(5)), see]],
    [
      'workload applied',
      [
        PATCH(`${at}?fieldManager=own`, A, make(k, {}, { spec: { ...(k.rest['spec'] as Fields), replicas: 1 } })),
        apply('x', wanting(3)),
        apply('own', wanting(3)),
        apply('own', wanting(3), true),
        see,
        merge('z', wanting(6)),
        see,
        PATCH(`${at}?fieldManager=own`, A, make(k, {}, { spec: { ...(k.rest['spec'] as Fields), replicas: 1 } })),
        PATCH(`${at}?fieldManager=own`, A, make(k)),
        see,
      ],
    ],
    [
      'odd',
      [
        made,
        apply('x', wanting(5, { labels: { a: 'b' } }), true),
        apply('x', wanting(5, { uid: 'x' }), true),
        apply('x', wanting(-1)),
        apply('x', wanting('x')),
        apply('x', wanting(5, { name: 'other' })),
        apply('x', wanting(5, { managedFields: [] })),
        PATCH(`${at}/scale`, A, wanting(3)),
        apply('x', make(k)),
        apply('w', scale({}, { spec: { replicas: 5 }, status: { replicas: 9 } })),
        see,
        PATCH(`${k.path}/none/scale?fieldManager=x`, A, wanting(1, { name: 'none' })),
      ],
    ],
  ]
}

export const scales = (): readonly Case[] =>
  kinds.flatMap((k) => storiesOf(k).map(([name, steps]) => ({ name: `${k.kind}, scale: ${name}`, steps })))
