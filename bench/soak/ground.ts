/** The namespace of a soak: its Deployments, what is done to them in a round, and how they must look when all is at rest. */
import { type BenchClient, expectOk, json } from '../client.ts'
import { pause } from '../load.ts'
import { makeNamespace, podsPath } from '../pods.ts'

export const PER_DEPLOYMENT = 100
const NAMESPACE = 'soak'
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`
const REPLICA_SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/replicasets`
const WITHIN_MS = 600_000
const EVERY_MS = 500
const PODS_DELETED = 20
const NODES_DELETED = 2
const NODES_DEAD = 2
/** What drives the pods of a dead node away. It is there again in the next round. */
const DEAD = { key: 'soak', value: 'dead', effect: 'NoExecute' }

export interface Ground {
  /** A round's work. Says what was done. */
  disturb(): Promise<string>
  /** Waits until everything is as asked for. What is not as it must be, in words; none: all is well. */
  settled(): Promise<readonly string[]>
  /** Deletes the namespace and waits for its end. @throws Error when it does not end */
  remove(): Promise<void>
}

interface Metadata {
  readonly name: string
  readonly uid: string
  readonly generation?: number
  readonly deletionTimestamp?: string
  readonly ownerReferences?: readonly { readonly uid: string }[]
}

interface Deployment {
  readonly metadata: Metadata
  readonly spec: { readonly replicas: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
  }
}

interface Pod {
  readonly metadata: Metadata
  readonly spec: { readonly nodeName?: string }
  readonly status?: { readonly podIP?: string; readonly phase?: string }
}

interface Node {
  readonly metadata: Metadata
  readonly spec: { readonly taints?: readonly { readonly key: string }[] }
}

export async function createGround(client: BenchClient, count: number, random: () => number): Promise<Ground> {
  await makeNamespace(client, NAMESPACE)
  const replicas = new Map<string, number>()
  const dead = new Set<string>()
  let version = 0
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  const list = async <T>(path: string): Promise<readonly T[]> =>
    JSON.parse(expectOk(await client.request('GET', path)).body.toString()).items

  async function make(name: string): Promise<void> {
    const wanted = Math.ceil(PER_DEPLOYMENT * (0.5 + random()))
    expectOk(await client.request('POST', DEPLOYMENTS, deployment(name, wanted)))
    replicas.set(name, wanted)
  }
  const patch = async (name: string, body: object) =>
    expectOk(
      await client.request('PATCH', `${DEPLOYMENTS}/${name}`, {
        ...json(body),
        contentType: 'application/merge-patch+json',
      }),
    )

  /** One that was deleted meanwhile and registered again has no taints. */
  async function taint(node: string, taints: readonly object[]): Promise<void> {
    const bytes = json({ spec: { taints } })
    const path = `/api/v1/nodes/${node}`
    const answer = await client.request('PATCH', path, { ...bytes, contentType: 'application/merge-patch+json' })
    if (answer.code !== 404) expectOk(answer)
  }

  /** What is gone by then was not there to be deleted. */
  async function removeSome(collection: string, paths: readonly string[], most: number): Promise<number> {
    let removed = 0
    for (let index = 0; index < most && paths.length > 0; index++) {
      const { code } = await client.request('DELETE', `${collection}/${pick(paths)}`)
      if (code < 300) removed++
    }
    return removed
  }

  for (let index = 0; index < count; index++) await make(`d${index}`)

  return {
    async disturb() {
      // They would stay for an hour, and be the most of what there is: it is not their number that is watched.
      for (const namespace of [NAMESPACE, 'default'])
        expectOk(await client.request('DELETE', `/api/v1/namespaces/${namespace}/events`))
      const counts = { rolledOut: 0, scaled: 0, replaced: 0 }
      for (const name of [...replicas.keys()]) {
        const choice = random()
        if (choice < 0.25) {
          const annotations = { version: String(++version) }
          await patch(name, { spec: { template: { metadata: { annotations } } } })
          counts.rolledOut++
        } else if (choice < 0.45) {
          const wanted = Math.ceil(PER_DEPLOYMENT * (0.5 + random()))
          await patch(name, { spec: { replicas: wanted } })
          replicas.set(name, wanted)
          counts.scaled++
        } else if (choice < 0.55) {
          expectOk(await client.request('DELETE', `${DEPLOYMENTS}/${name}`))
          replicas.delete(name)
          await make(`d${count + ++version}`)
          counts.replaced++
        }
      }
      const pods = (await list<Pod>(podsPath(NAMESPACE))).map(({ metadata }) => metadata.name)
      const deleted = await removeSome(podsPath(NAMESPACE), pods, PODS_DELETED)
      const nodes = (await list<{ metadata: Metadata }>('/api/v1/nodes')).map(({ metadata }) => metadata.name)
      const left = nodes.length > NODES_DELETED ? await removeSome('/api/v1/nodes', nodes, NODES_DELETED) : 0
      for (const node of dead) await taint(node, [])
      dead.clear()
      for (let index = 0; index < NODES_DEAD && nodes.length > NODES_DEAD; index++) dead.add(pick(nodes))
      for (const node of dead) await taint(node, [DEAD])
      const { rolledOut, scaled, replaced } = counts
      const done = `${rolledOut} rolled out, ${scaled} scaled, ${replaced} replaced, ${deleted} pods and ${left} Nodes deleted`
      return `${done}, ${dead.size} nodes dead`
    },

    async settled() {
      const begin = performance.now()
      for (;;) {
        const problems = await look()
        if (problems.length === 0) return []
        if (performance.now() - begin > WITHIN_MS) return problems
        await pause(EVERY_MS)
      }
    },

    async remove() {
      const path = `/api/v1/namespaces/${NAMESPACE}`
      const begin = performance.now()
      expectOk(await client.request('DELETE', path))
      while ((await client.request('GET', path)).code !== 404) {
        if (performance.now() - begin > WITHIN_MS) throw new Error(`the namespace is still there after ${WITHIN_MS} ms`)
        await pause(EVERY_MS)
      }
    },
  }

  async function look(): Promise<string[]> {
    const deployments = await list<Deployment>(DEPLOYMENTS)
    const problems = deployments.flatMap((one) => unfinished(one, replicas.get(one.metadata.name)))
    if (deployments.length !== replicas.size)
      problems.push(`${deployments.length} Deployments where ${replicas.size} were made`)
    // While Deployments are under way, looking at every pod would only be load.
    if (problems.length > 0) return problems
    const [sets, pods, nodes] = [
      await list<{ metadata: Metadata }>(REPLICA_SETS),
      await list<Pod>(podsPath(NAMESPACE)),
      await list<Node>('/api/v1/nodes'),
    ]
    const living = nodes.filter(({ spec }) => !spec.taints?.some(({ key }) => key === DEAD.key))
    return [
      ...podProblems(pods, new Set(sets.map(({ metadata }) => metadata.uid)), new Set(living.map(nameOf))),
      ...orphans(
        sets.map(({ metadata }) => metadata),
        new Set(deployments.map(({ metadata }) => metadata.uid)),
      ),
      ...(pods.length === sum(replicas.values()) ? [] : [`${pods.length} pods, asked for: ${sum(replicas.values())}`]),
    ]
  }
}

const nameOf = ({ metadata }: { readonly metadata: Metadata }): string => metadata.name
const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, one) => total + one, 0)

function unfinished({ metadata, spec, status = {} }: Deployment, wanted: number | undefined): string[] {
  const { observedGeneration, replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = status
  const isDone =
    spec.replicas === wanted &&
    observedGeneration === metadata.generation &&
    [replicas, updatedReplicas, readyReplicas].every((number) => number === wanted)
  return isDone ? [] : [`Deployment ${metadata.name} has ${JSON.stringify(status)}, asked for: ${wanted}`]
}

function podProblems(pods: readonly Pod[], sets: ReadonlySet<string>, nodes: ReadonlySet<string>): string[] {
  const problems = orphans(
    pods.map(({ metadata }) => metadata),
    sets,
  )
  const addresses = new Map<string, string>()
  for (const { metadata, spec, status } of pods) {
    const { name } = metadata
    if (metadata.deletionTimestamp !== undefined) problems.push(`pod ${name} is still being deleted`)
    if (status?.phase !== 'Running') problems.push(`pod ${name} is ${status?.phase}`)
    if (!nodes.has(spec.nodeName ?? '')) problems.push(`pod ${name} is on ${spec.nodeName}, which is no Node, or dead`)
    const address = status?.podIP ?? ''
    const other = addresses.get(address)
    if (other !== undefined) problems.push(`pods ${other} and ${name} have one address, ${address}`)
    addresses.set(address, name)
  }
  return problems
}

/** What the owner of is gone, and is still there itself. */
function orphans(objects: readonly Metadata[], owners: ReadonlySet<string>): string[] {
  return objects
    .filter(({ ownerReferences = [] }) => !ownerReferences.some(({ uid }) => owners.has(uid)))
    .map(({ name }) => `${name} has outlived its owner`)
}

function deployment(name: string, replicas: number) {
  const labels = { app: name }
  return json({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas,
      revisionHistoryLimit: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'c', image: 'nginx:1', resources: { requests: { cpu: '10m', memory: '16Mi' } } }],
        },
      },
    },
  })
}
