import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceRequirements } from '../api/generated/types.ts'
import type { Pod } from './pod.ts'
import { createAllocations } from './pod-admission.ts'
import type { RuntimePodStatus } from './pod-cache.ts'
import { createPodResizes, RESOURCES_LABEL } from './pod-resize.ts'
import { createResizeEvents } from './pod-resize-events.ts'
import type { RuntimeContainerStatus } from './runtimes/runtime.ts'
import type { StaticPolicies } from './topology-manager/resource-managers.ts'

const cpu = (requests: string, limits = requests): ResourceRequirements => ({
  requests: { cpu: requests },
  limits: { cpu: limits },
})

const podOf = (uid: string, resources: ResourceRequirements, more: object = {}, status: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: uid, namespace: 'n', uid, generation: 2 },
    spec: { containers: [{ name: 'c', resources, ...more }] },
    status,
  }) as Pod

const running = (id: string, resources: ResourceRequirements): RuntimeContainerStatus =>
  ({
    id,
    metadata: { name: 'c', attempt: 0 },
    state: 'running',
    labels: { [RESOURCES_LABEL]: JSON.stringify(resources) },
  }) as unknown as RuntimeContainerStatus

const runtimeOf = (...containers: RuntimeContainerStatus[]) => ({ uid: 'a', ips: [], sandboxes: [], containers })
const resourcesOf = (pod: Pod) => pod.spec!.containers[0]!.resources

function node() {
  const allocations = createAllocations()
  const resizes = createPodResizes(allocations, { cpu: '2', memory: '1Gi', pods: '10' })
  const begin = (pod: Pod) => {
    const own = resizes.accept(pod)
    allocations.add(own)
    return own
  }
  const conditions = (pod: Pod, status: RuntimePodStatus) =>
    resizes.conditions(pod, status).map(({ type, reason }) => [type, reason])
  return { allocations, resizes, begin, conditions }
}

test('a resize that waits, begins and is done is told of once each, with what containers are to have', () => {
  const told: string[] = []
  const tell = (type: string) => (_: Pod, reason: string, message: string) =>
    void told.push(`${type} ${reason}: ${message}`)
  const resizes = createPodResizes(
    createAllocations(),
    { cpu: '2', pods: '10' },
    createResizeEvents({ normal: tell('Normal'), warning: tell('Warning'), about() {} }),
  )
  resizes.accept(podOf('a', cpu('500m')))
  const more = podOf('a', cpu('600m', '1'))
  resizes.accept(more)
  resizes.accept(more)
  const status = runtimeOf(running('1', cpu('500m')))
  resizes.tellCompleted(more, status)
  resizes.done('a', '1', cpu('600m', '1'))
  resizes.tellCompleted(more, status)
  resizes.tellCompleted(more, status)
  const asked =
    '{"containers":[{"name":"c","resources":{"limits":{"cpu":"1"},"requests":{"cpu":"600m"}}}],"generation":2}'
  assert.deepEqual(told, [
    `Normal ResizeStarted: Pod resize started: ${asked}`,
    `Normal ResizeCompleted: Pod resize completed: ${asked}`,
  ])
})

test('a resize that must wait is told of once', () => {
  const told: string[] = []
  const allocations = createAllocations()
  allocations.add(podOf('other', cpu('1')))
  const warning = (_: Pod, reason: string, message: string) => void told.push(`${reason}: ${message}`)
  const resizes = createPodResizes(
    allocations,
    { cpu: '2', pods: '10' },
    createResizeEvents({ normal() {}, warning, about() {} }),
  )
  resizes.accept(podOf('a', cpu('500m')))
  for (let turn = 0; turn < 2; turn++) resizes.accept(podOf('a', { requests: { cpu: '1500m' } }))
  assert.deepEqual(told, [
    `ResizeDeferred: Pod resize OutOfcpu: {"containers":[{"name":"c","resources":{"requests":{"cpu":"1500m"}}}],"generation":2,"error":"Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000"}`,
  ])
})

test('a pod is given more where the node has it, and the running container is held to it', () => {
  const { resizes, begin, conditions, allocations } = node()
  begin(podOf('a', cpu('500m')))
  const container = running('1', cpu('500m'))
  const own = resizes.accept(podOf('a', cpu('1500m')))
  assert.deepEqual(resourcesOf(own), cpu('1500m'))
  assert.equal(allocations.used('cpu'), 1_500_000_000n)
  assert.deepEqual(conditions(own, runtimeOf(container)), [['PodResizeInProgress', undefined]])
  const [given] = own.spec!.containers
  assert.equal(resizes.due(given!, container), 'update')
  assert.deepEqual(resizes.resources(given!, container), cpu('500m'))
  resizes.done('a', '1', given!.resources!)
  assert.deepEqual(conditions(own, runtimeOf(container)), [])
  assert.deepEqual(resizes.resources(given!, container), cpu('1500m'))
})

test('a container whose policy wants a restart for a resource is restarted when that one changes', () => {
  const { resizes } = node()
  const policy = { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] }
  const due = (resources: ResourceRequirements) =>
    resizes.due(podOf('a', resources, policy).spec!.containers[0]!, running('1', cpu('500m')))
  assert.equal(due(cpu('1')), 'update')
  assert.equal(due({ requests: { cpu: '500m', memory: '1Mi' }, limits: { cpu: '500m' } }), 'restart')
  assert.equal(due(cpu('500m')), undefined)
})

test('what the node never has is infeasible, what others have is waited for', () => {
  const { resizes, begin, conditions, allocations } = node()
  begin(podOf('a', cpu('500m')))
  begin(podOf('b', cpu('1')))
  const held = runtimeOf(running('1', cpu('500m')))
  const tooMuch = resizes.accept(podOf('a', cpu('3')))
  assert.deepEqual(resourcesOf(tooMuch), cpu('500m'))
  assert.deepEqual(conditions(tooMuch, held), [['PodResizePending', 'Infeasible']])
  assert.deepEqual(resizes.waiting(), [])
  const more = podOf('a', cpu('1500m'))
  assert.deepEqual(conditions(resizes.accept(more), held), [['PodResizePending', 'Deferred']])
  assert.deepEqual(resizes.waiting(), ['a'])
  allocations.remove('b')
  assert.deepEqual(resourcesOf(resizes.accept(more)), cpu('1500m'))
  assert.deepEqual(resizes.waiting(), [])
})

test('a kubelet that starts anew goes by what the status tells of a pod that waits', () => {
  const { begin } = node()
  const own = begin(
    podOf(
      'a',
      cpu('3'),
      {},
      {
        conditions: [{ type: 'PodResizePending', status: 'True' }],
        containerStatuses: [{ name: 'c', resources: cpu('500m') }],
      },
    ),
  )
  assert.deepEqual(resourcesOf(own), cpu('500m'))
})

test('what a static policy has given to a Guaranteed pod is not changed; that of other pods is', () => {
  const amounts = (cpus: string, memory: string): ResourceRequirements => ({
    requests: { cpu: cpus, memory },
    limits: { cpu: cpus, memory },
  })
  const resized = (policies: StaticPolicies, before: ResourceRequirements, after: ResourceRequirements) => {
    const allocations = createAllocations()
    const allocatable = { cpu: '4', memory: '1Gi', pods: '10' }
    const resizes = createPodResizes(allocations, allocatable, undefined, policies)
    allocations.add(resizes.accept(podOf('a', before)))
    const own = resizes.accept(podOf('a', after))
    assert.equal(resourcesOf(own) === after, resizes.conditions(own, runtimeOf()).length === 0)
    return resizes.conditions(own, runtimeOf()).map(({ reason, message }) => `${reason}: ${message}`)
  }
  const fixed = { cpu: 'static', memory: 'Static' } as const
  const why = (manager: string, policy: string) => [
    `Infeasible: Resize is infeasible for Guaranteed Pods alongside ${manager} Manager policy "${policy}"`,
  ]
  const own = amounts('1', '1Mi')
  assert.deepEqual(resized(fixed, own, amounts('2', '2Mi')), why('CPU', 'static'))
  assert.deepEqual(resized(fixed, own, amounts('1000m', '2Mi')), why('Memory', 'Static'))
  assert.deepEqual(resized({ ...fixed, memory: 'None' }, own, amounts('1', '2Mi')), [])
  assert.deepEqual(resized({ ...fixed, cpu: 'none' }, own, amounts('2', '1Mi')), [])
  assert.deepEqual(resized(fixed, cpu('1', '2'), cpu('2', '3')), [])
})

test('a pod as a whole is held to what it is given; a kubelet that starts anew goes by its status', () => {
  const withOwn = (memory: string, status: object = {}): Pod => {
    const pod = podOf('a', {}, {}, status)
    return { ...pod, spec: { ...pod.spec!, resources: { limits: { memory } } } }
  }
  const status = runtimeOf(running('1', {}))
  const limitsOf = (resizes: ReturnType<typeof node>['resizes'], pod: Pod) =>
    resizes.held(pod, status).spec?.resources?.limits?.['memory']
  const first = node()
  assert.equal(first.resizes.podDue(first.begin(withOwn('1Mi'))), undefined)
  const more = first.resizes.accept(withOwn('2Mi'))
  assert.deepEqual(first.resizes.podDue(more), { held: { limits: { memory: '1Mi' } } })
  assert.deepEqual(first.conditions(more, status), [['PodResizeInProgress', undefined]])
  assert.equal(limitsOf(first.resizes, more), '1Mi')
  first.resizes.podDone(more)
  assert.deepEqual([first.resizes.podDue(more), first.conditions(more, status)], [undefined, []])
  assert.equal(limitsOf(first.resizes, more), '2Mi')
  const anew = node()
  const told = anew.begin(withOwn('2Mi', { resources: { limits: { memory: '1Mi' } } }))
  assert.deepEqual(anew.resizes.podDue(told), { held: { limits: { memory: '1Mi' } } })
})

test('what containers are to have otherwise is counted once, whether or not they are given it', () => {
  const told: string[] = []
  const resizes = createPodResizes(
    createAllocations(),
    { cpu: '2', memory: '1Gi', pods: '10' },
    undefined,
    undefined,
    (...one) => told.push(one.join(' ')),
  )
  resizes.accept(podOf('a', cpu('500m')))
  assert.deepEqual(told, [])
  const more = podOf('a', { requests: { cpu: '400m' }, limits: { cpu: '9', memory: '1Mi' } })
  resizes.accept(more)
  resizes.accept(more)
  assert.deepEqual(told, ['cpu limits increase', 'memory limits add', 'cpu requests decrease'])
})

test('an init container that runs is held to what it is given too', () => {
  const { resizes, begin } = node()
  const withInit = (amounts: ResourceRequirements): Pod => {
    const pod = podOf('a', {})
    return { ...pod, spec: { ...pod.spec!, initContainers: [{ name: 'i', image: 'x', resources: amounts }] } }
  }
  begin(withInit(cpu('100m')))
  const more = resizes.accept(withInit(cpu('200m')))
  const status = runtimeOf({ ...running('1', cpu('100m')), metadata: { name: 'i', attempt: 0 } })
  assert.deepEqual(
    resizes.conditions(more, status).map(({ type }) => type),
    ['PodResizeInProgress'],
  )
})
