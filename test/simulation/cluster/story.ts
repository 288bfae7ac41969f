/**
 * A random story: a cluster with some objects, then users, failures and restarts all at once, then calm. What each of them
 * did is in the log of a rerun.
 */
import type { KubeObject } from '../../../src/api/object.ts'
import type { SimulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import type { ClientDeleteOptions, ResourceClient } from '../../../src/client/client.ts'
import type { Happenings } from '../explore.ts'
import { covers } from './laws/budgets.ts'
import { describe, isMarked } from './laws/laws.ts'
import { USER_FINALIZER } from './laws/objects.ts'
import { openingOf } from './openings.ts'
import { comesToRest } from './rest.ts'
import type { Place } from './truth.ts'
import { isKubelet } from './wire.ts'
import { clusterScoped, dice, isKind, type Kind, kinds, make, ownersAmong } from './workload.ts'
import { type Component, startWorld, type World } from './world.ts'

const namespaces = ['one', 'two']
const common: readonly Kind[] = [
  'Deployment',
  'Deployment',
  'ReplicaSet',
  'Pod',
  'Pod',
  'ConfigMap',
  'ConfigMap',
  'Job',
]
const rare: readonly Kind[] = [
  'ReplicationController',
  'Service',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'Secret',
  'PodDisruptionBudget',
  'PodDisruptionBudget',
  'PriorityClass',
  'StatefulSet',
  'StatefulSet',
  'DaemonSet',
  'CronJob',
  'ResourceQuota',
]
const graces = [undefined, undefined, undefined, 0, 1, 10, 40, 100]
const pauses = [0, 10, 3000, 20_000, 70_000]
/** Controllers with most to forget. */
const worthKilling = [
  'garbage-collector-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'daemonset-controller',
  'job-controller',
  'cronjob-controller',
  'disruption-controller',
  'endpointslice-controller',
  'resourcequota-controller',
  'persistentvolumeclaim-protection-controller',
  'persistentvolume-binder-controller',
  'node-lifecycle-controller',
  'taint-eviction-controller',
  'pod-garbage-collector-controller',
]
const policies = [undefined, undefined, 'Orphan', 'Background', 'Foreground', 'Foreground'] as const

const isPausable = (kind: string): boolean => kind === 'Deployment' || kind === 'Job'

/** @throws Error that names every law that was broken */
export async function tell(runtime: SimulatedRuntime): Promise<Happenings> {
  const die = dice(runtime.random)
  const { chance, oneOf, below } = die
  const world = await startWorld(runtime, {
    nodes: chance(0.3) ? 2 : 1,
    alone: chance(0.4) ? [oneOf(worthKilling)] : [],
  })
  const { truth, user } = world
  const pending: Promise<unknown>[] = []
  let names = 0
  let calm = false

  for (const name of namespaces)
    await done(user.resource(kinds.Namespace).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
  await runtime.advance(1000)
  const opening = openingOf(die)
  for (const object of opening.first) await done(resourceOf(object).create(object))
  const [begun] = opening.first
  for (const { atMs, spec } of opening.changes ?? [])
    runtime.clock.setTimer(atMs, 'change', () => {
      const object = begun && truth.find(placeOf(begun))
      if (!calm && object !== undefined) pending.push(patch(object, {}, spec).catch(() => {}))
    })
  for (let count = 2 + below(4); count > 0; count--) await done(create())
  for (let count = below(3); count > 0; count--) await done(adopt())
  await runtime.advance(oneOf([0, 1000, 15_000]))
  for (const object of opening.later)
    pending.push(
      resourceOf(object)
        .create(object)
        .catch(() => {}),
    )

  world.chaos = chance(0.4) ? 0 : 0.01 + runtime.random.float() * 0.1
  const haste = chance(0.5) ? 0 : oneOf([0.002, 0.01, 0.05])
  const lateness = oneOf([200, 2000, 10_000, 60_000])
  runtime.setEarlyTimers(haste, lateness)
  world.note(`chaos ${world.chaos}, early timers ${haste} up to ${lateness} ms`)
  for (let count = 4 + below(8); count > 0; count--) {
    pending.push(act().catch(() => {}))
    // In the middle of something, more often than not.
    if (chance(0.3)) disturb()
    else if (chance(0.2)) runtime.clock.setTimer(runtime.random.float() * 3000, 'accident', () => calm || disturb())
    if (chance(0.6)) for (let steps = below(60); steps > 0; steps--) await runtime.step()
    else await runtime.advance(oneOf([1, 500, 2000, 9000, 31_000]))
  }
  await runtime.advance(oneOf([0, 5000, 50_000]))
  world.note('calm')
  calm = true
  world.chaos = 0
  runtime.setEarlyTimers(0)
  world.server.start()
  await runtime.run({ until: () => world.server.up, maxSteps: 2_000_000 })
  for (const component of world.components) component.start()
  await runtime.complete(Promise.allSettled(pending), { maxSteps: 2_000_000 })
  for (const object of candidates()) {
    if (object.kind === 'CronJob') await done(patch(object, {}, { suspend: true }))
    if (object.kind === 'Job') await done(patch(object, {}, { suspend: false }))
    if (object.kind === 'Deployment') await done(patch(object, {}, { paused: false }))
  }
  await comesToRest(world, { letGo, touch })
  await world.stop()
  if (world.failures.length > 0) throw new Error(world.failures.join('\n    '))
  if (runtime.earlyMs > 0) world.happened('time runs ahead of what waits')
  return world.happenings

  async function done(promise: Promise<unknown>): Promise<void> {
    await runtime.complete(
      promise.catch((error) => world.note(String(error))),
      { maxSteps: 2_000_000 },
    )
  }

  function candidates(): readonly KubeObject[] {
    return truth.list().filter(({ kind, metadata: { name, namespace } }) => {
      if (kind === 'ConfigMap' && name === 'kube-root-ca.crt') return false
      if (!isKind(kind) || kind === 'Namespace' || kind === 'Node') return false
      return namespace === undefined ? /^o\d/.test(name ?? '') : namespaces.includes(namespace)
    })
  }

  function resourceOf({ kind, metadata }: KubeObject): ResourceClient {
    const resource = user.resource(kinds[kind as Kind])
    return clusterScoped.has(kind) ? resource : resource.namespace(metadata.namespace ?? '')
  }

  function placeOf({ kind, metadata: { name = '', namespace = '' } }: KubeObject): Place {
    return { resource: kinds[kind as Kind].resource, name, namespace }
  }

  /** Of all there is, with a preference for what others made of the user's objects. */
  function something(): KubeObject | undefined {
    const all = candidates()
    return all.length === 0 ? undefined : oneOf(all)
  }

  async function create(): Promise<void> {
    const kind = oneOf(chance(0.7) ? common : rare)
    const namespace = chance(0.8) ? 'one' : 'two'
    const owners = chance(0.4) ? ownersAmong(die, runtime.random, candidates(), 2) : []
    const object = make(die, kind, `o${names++}`, namespace, owners, oneOf(['x', 'y', ...labelsIn(namespace)]))
    world.note(`create ${describe(object)} owned by ${owners.map((owner) => `${owner.kind}/${owner.name}`)}`)
    await resourceOf(object).create(object)
  }

  /** What pods there are called by, so that others can be about them. */
  function labelsIn(namespace: string): readonly string[] {
    return candidates()
      .filter(({ kind, metadata }) => kind === 'Pod' && metadata.namespace === namespace)
      .flatMap(({ metadata }) => metadata.labels?.['app'] ?? [])
  }

  /** The same name again, mostly while or after the old one goes. */
  async function createAgain(): Promise<void> {
    const old = something()
    if (old === undefined || !isKind(old.kind)) return
    const { name = '', namespace = '' } = old.metadata
    const object = make(die, old.kind, name, namespace, [], oneOf(['x', 'y']))
    world.note(`create again ${describe(object)}`)
    await resourceOf(object).create(object)
  }

  async function adopt(): Promise<void> {
    const object = something()
    if (object === undefined) return
    const owners = ownersAmong(
      die,
      runtime.random,
      candidates().filter((one) => one !== object),
      2,
    )
    const kept = object.metadata.ownerReferences?.filter(({ controller }) => controller === true) ?? []
    world.note(`${describe(object)} gets the owners ${owners.map((owner) => `${owner.kind}/${owner.name}`)}`)
    await patch(object, { ownerReferences: [...kept, ...owners] })
  }

  function patch(object: KubeObject, metadata: object, spec?: object): Promise<unknown> {
    const body = { metadata: { uid: object.metadata.uid, ...metadata }, ...(spec === undefined ? {} : { spec }) }
    return resourceOf(object).patch(object.metadata.name ?? '', 'merge', body as never)
  }

  async function remove(target = something()): Promise<void> {
    if (target === undefined) return
    const { name = '', uid = '', resourceVersion = '' } = target.metadata
    const policy = oneOf(policies)
    const grace = target.kind === 'Pod' ? oneOf(graces) : undefined
    const wrong = chance(0.1)
    const preconditions = chance(0.4)
      ? { uid: wrong ? runtime.random.uuid() : uid, ...(chance(0.3) ? { resourceVersion } : {}) }
      : undefined
    const options: ClientDeleteOptions = {
      ...(policy === undefined ? {} : { propagationPolicy: policy }),
      ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
      ...(preconditions === undefined ? {} : { preconditions }),
    }
    world.note(`delete ${describe(target)} ${JSON.stringify(options)}`)
    await resourceOf(target).delete(name, options)
    if (chance(0.3)) {
      await runtime.clock.setTimer(below(20_000), 'again', () => pending.push(remove(target).catch(() => {})))
    }
  }

  async function removeAll(): Promise<void> {
    const kind = oneOf(['Pod', 'ConfigMap', 'ReplicaSet', 'Deployment'] as const)
    const options = { gracePeriodSeconds: oneOf([0, 5, 30]) }
    world.note(`delete all ${kind} ${JSON.stringify(options)}`)
    await user.resource(kinds[kind]).namespace('one').deleteCollection(options, { labelSelector: 'app in (x,y)' })
  }

  async function removeNamespace(): Promise<void> {
    const name = oneOf(namespaces)
    world.note(`delete Namespace ${name}`)
    await user.resource(kinds.Namespace).delete(name)
  }

  async function change(): Promise<void> {
    const object = something()
    if (object === undefined) return
    const spec =
      isPausable(object.kind) && chance(0.3)
        ? object.kind === 'Job'
          ? { suspend: chance(0.5) }
          : { paused: chance(0.6) }
        : object.kind === 'Job'
          ? { parallelism: 1 + below(3) }
          : ['Deployment', 'StatefulSet', 'DaemonSet'].includes(object.kind) && chance(0.5)
            ? { template: { spec: { containers: [{ name: 'c', image: `i:${below(4)}` }] } } }
            : ['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet'].includes(object.kind)
              ? { replicas: below(4) }
              : undefined
    const labels = spec === undefined ? { labels: { app: oneOf(['x', 'y', 'o0', 'o1', 'o2']) } } : {}
    world.note(`change ${describe(object)} ${JSON.stringify({ spec, labels })}`)
    await patch(object, labels, spec)
  }

  /** The user's finalizer is taken off. */
  async function letGo(object: KubeObject): Promise<void> {
    const { uid = '', finalizers = [], resourceVersion } = object.metadata
    if (!finalizers.includes(USER_FINALIZER)) return
    world.objects.release(uid)
    world.note(`let go ${describe(object)}`)
    await patch(object, { resourceVersion, finalizers: finalizers.filter((one) => one !== USER_FINALIZER) })
  }

  async function touch(object: KubeObject): Promise<void> {
    world.note(`touch ${describe(object)}`)
    await patch(object, { annotations: { 'example.com/touched': String(runtime.clock.now()) } })
  }

  /** One pod, or all that a budget is about at once. */
  async function evict(): Promise<void> {
    const pods = candidates().filter(({ kind }) => kind === 'Pod')
    const budgets = candidates().filter(({ kind }) => kind === 'PodDisruptionBudget')
    if (pods.length === 0) return
    const budget = budgets.length > 0 && chance(0.8) ? oneOf(budgets) : undefined
    const covered = budget === undefined ? [] : pods.filter((pod) => covers(budget, pod))
    for (const pod of covered.length > 0 ? covered : [oneOf(pods)]) {
      const { name = '', namespace = '' } = pod.metadata
      const object = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
      world.note(`evict ${namespace}/${name}`)
      const evicted = user.resource(kinds.Pod).namespace(namespace).create(object, { subresource: 'eviction', name })
      pending.push(evicted.catch(() => {}))
    }
  }

  async function act(): Promise<void> {
    const dead = candidates().filter(isMarked)
    const held = candidates().filter(({ metadata }) => metadata.finalizers?.includes(USER_FINALIZER))
    const claims = candidates().filter(({ kind }) => kind === 'PersistentVolumeClaim')
    const which = runtime.random.float()
    if (which < 0.42) return remove(claims.length > 0 && chance(0.2) ? oneOf(claims) : something())
    if (which < 0.5 && dead.length > 0) return remove(oneOf(dead))
    if (which < 0.62) return create()
    if (which < 0.67) return createAgain()
    if (which < 0.74) return adopt()
    if (which < 0.84) return change()
    if (which < 0.87) return removeAll()
    if (which < 0.92) return evict()
    if (which < 0.95) return removeNamespace()
    if (held.length > 0) return letGo(oneOf(held))
  }

  function disturb(): void {
    if (chance(0.1)) {
      world.note('the store is compacted')
      world.server.compact()
    }
    if (chance(0.15)) {
      crashServer()
      return
    }
    const component = chance(0.2) ? (world.components[1] as Component) : oneOf(world.components)
    const which = runtime.random.float()
    if (which < 0.45) restart(component)
    else {
      const how = oneOf(['closed', 'broken', 'expired'] as const)
      world.note(`watches of ${component.name} ${how}`)
      world.happened('watches are cut')
      for (const watch of [...(component.life?.watches ?? [])]) if (chance(0.7)) watch.cut(how)
    }
  }

  function crashServer(): void {
    const wait = oneOf(pauses)
    const store = oneOf(['alone', 'written', 'lost'] as const)
    if (store === 'alone') crash()
    else crashWriting(80)

    function crash(): void {
      world.note(`the API server is killed, up again in ${wait} ms; its store: ${store}`)
      world.server.kill(store)
      runtime.clock.setTimer(wait, 'restart', () => world.server.start())
    }

    /** While the store writes, if it does so soon. */
    function crashWriting(left: number): void {
      if (calm) return
      if (world.server.writing || left === 0) crash()
      else runtime.scheduler.handOver('accident', () => crashWriting(left - 1))
    }
  }

  function restart(component: Component): void {
    const wait = oneOf(pauses)
    const rebooted = isKubelet(component.name) && chance(0.3)
    world.note(`${component.name} is killed, up again in ${wait} ms${rebooted ? ', its machine rebooted' : ''}`)
    if (component.life !== undefined) world.happened(component.death)
    component.kill()
    if (rebooted) world.reboot(component.name)
    runtime.clock.setTimer(wait, 'restart', () => component.start())
  }
}

export type { World }
