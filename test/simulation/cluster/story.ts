/**
 * A random story: a cluster with some objects, then users, failures and restarts all at once, then calm. What each of them
 * did is in the log of a rerun.
 */
import type { KubeObject } from '../../../src/api/object.ts'
import type { SimulatedRuntime } from '../../../src/base/simulated.ts'
import type { ClientDeleteOptions, ResourceClient } from '../../../src/client/client.ts'
import { describe, isMarked } from './laws/laws.ts'
import { USER_FINALIZER } from './laws/objects.ts'
import { comesToRest } from './rest.ts'
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
  'PriorityClass',
  'StatefulSet',
  'StatefulSet',
  'DaemonSet',
  'CronJob',
  'ResourceQuota',
]
const graces = [undefined, undefined, undefined, 0, 1, 10, 40, 100]
const policies = [undefined, undefined, 'Orphan', 'Background', 'Foreground', 'Foreground'] as const

/** @throws Error that names every law that was broken */
export async function tell(runtime: SimulatedRuntime): Promise<void> {
  const die = dice(runtime.random)
  const { chance, oneOf, below } = die
  const world = await startWorld(runtime, chance(0.3) ? 2 : 1)
  const { truth, user } = world
  const pending: Promise<unknown>[] = []
  let names = 0

  for (const name of namespaces)
    await done(user.resource(kinds.Namespace).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
  await runtime.advance(1000)
  for (let count = 2 + below(4); count > 0; count--) await done(create())
  for (let count = below(3); count > 0; count--) await done(adopt())
  await runtime.advance(oneOf([0, 1000, 15_000]))

  world.chaos = chance(0.4) ? 0 : 0.01 + runtime.random.float() * 0.1
  world.note(`chaos ${world.chaos}`)
  for (let count = 4 + below(8); count > 0; count--) {
    pending.push(act().catch(() => {}))
    if (chance(0.3)) disturb()
    if (chance(0.6)) for (let steps = below(60); steps > 0; steps--) await runtime.step()
    else await runtime.advance(oneOf([1, 500, 2000, 9000, 31_000]))
  }
  await runtime.advance(oneOf([0, 5000, 50_000]))
  world.note('calm')
  world.chaos = 0
  for (const component of world.components) component.start()
  await runtime.complete(Promise.allSettled(pending), { maxSteps: 2_000_000 })
  for (const object of candidates()) if (object.kind === 'CronJob') await done(patch(object, {}, { suspend: true }))
  await comesToRest(world, letGo)
  await world.stop()
  if (world.failures.length > 0) throw new Error(world.failures.join('\n    '))

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

  /** Of all there is, with a preference for what others made of the user's objects. */
  function something(): KubeObject | undefined {
    const all = candidates()
    return all.length === 0 ? undefined : oneOf(all)
  }

  async function create(): Promise<void> {
    const kind = oneOf(chance(0.7) ? common : rare)
    const namespace = chance(0.8) ? 'one' : 'two'
    const owners = chance(0.4) ? ownersAmong(die, runtime.random, candidates(), 2) : []
    const object = make(die, kind, `o${names++}`, namespace, owners)
    world.note(`create ${describe(object)} owned by ${owners.map((owner) => `${owner.kind}/${owner.name}`)}`)
    await resourceOf(object).create(object)
  }

  /** The same name again, mostly while or after the old one goes. */
  async function createAgain(): Promise<void> {
    const old = something()
    if (old === undefined || !isKind(old.kind)) return
    const { name = '', namespace = '' } = old.metadata
    const object = make(die, old.kind, name, namespace, [])
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
      ['Deployment', 'StatefulSet', 'DaemonSet'].includes(object.kind) && chance(0.5)
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

  async function evict(): Promise<void> {
    const pods = candidates().filter(({ kind }) => kind === 'Pod')
    if (pods.length === 0) return
    const { name = '', namespace = '' } = oneOf(pods).metadata
    const object = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
    world.note(`evict ${namespace}/${name}`)
    await user.resource(kinds.Pod).namespace(namespace).create(object, { subresource: 'eviction', name })
  }

  async function act(): Promise<void> {
    const dead = candidates().filter(isMarked)
    const held = candidates().filter(({ metadata }) => metadata.finalizers?.includes(USER_FINALIZER))
    const which = runtime.random.float()
    if (which < 0.42) return remove()
    if (which < 0.5 && dead.length > 0) return remove(oneOf(dead))
    if (which < 0.62) return create()
    if (which < 0.67) return createAgain()
    if (which < 0.74) return adopt()
    if (which < 0.84) return change()
    if (which < 0.88) return removeAll()
    if (which < 0.92) return evict()
    if (which < 0.95) return removeNamespace()
    if (held.length > 0) return letGo(oneOf(held))
  }

  function disturb(): void {
    const component = oneOf(world.components)
    const which = runtime.random.float()
    if (which < 0.45) restart(component)
    else {
      const how = oneOf(['closed', 'broken', 'expired'] as const)
      world.note(`watches of ${component.name} ${how}`)
      for (const watch of [...(component.life?.watches ?? [])]) if (chance(0.7)) watch.cut(how)
    }
  }

  function restart(component: Component): void {
    const wait = oneOf([0, 10, 3000, 20_000, 70_000])
    const rebooted = component.name.startsWith('node-') && chance(0.3)
    world.note(`${component.name} is killed, up again in ${wait} ms${rebooted ? ', its machine rebooted' : ''}`)
    component.kill()
    if (rebooted) world.reboot(component.name)
    runtime.clock.setTimer(wait, 'restart', () => component.start())
  }
}

export type { World }
