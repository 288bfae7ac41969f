/** A pod that is being deleted: what holds it, by its times, its node and what the kubelet says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/generated/types.ts'
import type { Fields } from '../../api/object.ts'
import { agentLinks, podLinks, silentNode } from './deleted-pods.ts'
import type { Link } from './finding.ts'
import { refOf } from './look.ts'
import { givenResource, lookAt } from './look-fixture.test.ts'

const NOW = Date.parse('2026-01-01T01:00:00Z')
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString()
const POD = givenResource('v1', 'Pod')

const node = (ready: 'True' | 'False' | 'Unknown', message = 'm'): Fields => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  status: {
    conditions: [
      { type: 'DiskPressure', status: 'False' },
      { type: 'Ready', status: ready, reason: 'R', message, lastHeartbeatTime: at(-500), lastTransitionTime: at(-400) },
    ],
  },
})
const lease = (ago: number): Fields => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'n', namespace: 'kube-node-lease' },
  spec: { renewTime: at(-ago) },
})
const WELL = [node('True'), lease(1)]

interface Given {
  /** Seconds from now to the end of its grace period. */
  readonly ends: number
  readonly grace?: number
  readonly nodeName?: string
  readonly finalizers?: readonly string[]
  readonly status?: Fields
}

const running = { containerStatuses: [{ name: 'main', state: { running: {} } }] }
const ended = (seconds: number) => ({
  containerStatuses: [
    { name: 'a', state: { terminated: { finishedAt: at(seconds - 5) } } },
    { name: 'b', state: { terminated: { finishedAt: at(seconds) } } },
  ],
})

const pod = ({ ends, grace = 30, nodeName = 'n', finalizers, status = running }: Given): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      namespace: 'ns',
      uid: 'u',
      deletionTimestamp: at(ends),
      deletionGracePeriodSeconds: grace,
      ...(finalizers === undefined ? {} : { finalizers }),
    },
    spec: nodeName === '' ? {} : { nodeName },
    status,
  }) as unknown as Pod

const event = (reason: string, message: string, ago: number): Fields => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: `e${ago}`, namespace: 'ns' },
  involvedObject: { kind: 'Pod', name: 'p', uid: 'u' },
  type: 'Warning',
  reason,
  message,
  source: { component: 'kubelet' },
  lastTimestamp: at(-ago),
})

const told = (links: readonly Link[]) =>
  links.map((link) => {
    const { kind } = link.cause
    const what = 'what' in link.cause ? ` ${String(link.cause.what)}` : ''
    const time = kind === 'kubelet-failing' && link.cause.at !== undefined ? ` at ${link.cause.at}` : ''
    const note = 'note' in link.cause ? `: ${link.cause.note}` : ''
    return `${'verdict' in link ? link.verdict : ''} ${kind}${what}${time}${note}${link.inferred ? ' (inferred)' : ''}`
  })

async function asked(given: Given, objects: readonly Fields[] = WELL): Promise<readonly string[]> {
  const one = pod(given)
  return told(await podLinks(lookAt({ objects, now: NOW }), refOf(POD, one), one))
}

test('until its grace period is over it ends by itself; then the kubelet has just so long', async () => {
  assert.deepEqual(await asked({ ends: 1 }), ['will-end grace-period'])
  assert.deepEqual(await asked({ ends: 0 }), ['slow kubelet-at-work: the grace period has just passed'])
  assert.deepEqual(await asked({ ends: -29 }), ['slow kubelet-at-work: the grace period has just passed'])
  assert.deepEqual(await asked({ ends: -30 }), [
    'slow kubelet-at-work: the grace period passed 30 s ago, and container main is still said to run; no Event says why (inferred)',
  ])
  assert.deepEqual(await asked({ ends: -600 }), [
    'slow kubelet-at-work: the grace period passed 600 s ago, and container main is still said to run; no Event says why (inferred)',
  ])
})

test('what is said of containers late in a grace period is what is known of them', async () => {
  const note = async (status: Fields) =>
    /^slow kubelet-at-work: the grace period passed 40 s ago, (.*); no Event says why \(inferred\)$/.exec(
      (await asked({ ends: -40, status }))[0] ?? '',
    )?.[1]
  const waits = (name: string, more: Fields = {}) => ({ name, state: { waiting: { reason: 'R' } }, ...more })
  const runs = (name: string) => ({ name, state: { running: {} } })
  const before = { lastState: { terminated: { finishedAt: at(-400) } } }
  assert.equal(await note(ended(-10)), 'and all containers have ended')
  assert.equal(await note({}), 'and no container is said to have started')
  assert.equal(await note({ containerStatuses: [waits('a')] }), 'and no container is said to have started')
  assert.equal(await note({ containerStatuses: [waits('a', before)] }), 'and no container is said to run')
  assert.equal(
    await note({ containerStatuses: [...ended(-10).containerStatuses, waits('c')] }),
    'and no container is said to run',
  )
  // Those that begin before the others, and those that were added, are containers as well.
  assert.equal(
    await note({ containerStatuses: [waits('a')], initContainerStatuses: [runs('init')] }),
    'and container init is still said to run',
  )
  const { containerStatuses } = ended(-10)
  assert.equal(
    await note({ containerStatuses, initContainerStatuses: [runs('mesh')], ephemeralContainerStatuses: [runs('sh')] }),
    'and container mesh, container sh are still said to run',
  )
  assert.deepEqual(await asked({ ends: 1, status: { containerStatuses, initContainerStatuses: [runs('mesh')] } }), [
    'will-end grace-period',
  ])
})

test('after ten minutes the kubelet fails, at a container that is said to run or at something else', async () => {
  assert.match((await asked({ ends: -601 }))[0] ?? '', /^refused kubelet-failing container \(inferred\)$/)
  assert.match((await asked({ ends: -601, status: {} }))[0] ?? '', /^refused kubelet-failing other \(inferred\)$/)
})

test('when the last of its containers has ended it is due, however long its grace period is', async () => {
  const long = { ends: 3600, grace: 3700 }
  assert.deepEqual(await asked({ ...long, status: ended(-10) }), [
    'slow kubelet-at-work: its containers have just ended',
  ])
  assert.deepEqual(await asked({ ...long, status: ended(-40) }), [
    'slow kubelet-at-work: all containers ended 40 s ago; no Event says why it is still there (inferred)',
  ])
  assert.deepEqual(await asked({ ...long, status: ended(20) }), ['will-end grace-period'])
  // They had ended before it was deleted.
  assert.deepEqual(await asked({ ...long, status: ended(-1000) }), [
    'slow kubelet-at-work: all containers ended 100 s ago; no Event says why it is still there (inferred)',
  ])
  // One of them has not.
  const status = { containerStatuses: [...ended(-10).containerStatuses, { name: 'c', state: { running: {} } }] }
  assert.deepEqual(await asked({ ...long, status }), ['will-end grace-period'])
})

test('one that was let go, and that a finalizer holds, is held by nothing else', async () => {
  const held = { ends: -5, grace: 0, finalizers: ['f'] }
  assert.deepEqual(await asked({ ...held, status: ended(-10) }), [])
  assert.deepEqual(await asked({ ...held, nodeName: '' }), [])
  assert.deepEqual(await asked({ ...held, status: { ...running, phase: 'Failed' } }), [])
  assert.deepEqual(await asked({ ...held, status: { ...running, phase: 'Succeeded' } }), [])
  assert.deepEqual(await asked(held), [])
  assert.equal((await asked({ ...held, finalizers: [] })).length, 1)
  assert.deepEqual(await asked({ ends: -5, finalizers: ['f'] }), [
    'slow kubelet-at-work: the grace period has just passed',
  ])
  // Only a kubelet can say that its containers have ended.
  const silent = [node('Unknown'), lease(100)]
  assert.deepEqual(await asked(held, silent), ['nobody silent-node'])
  for (const status of [ended(-10), { ...running, phase: 'Failed' }, { ...running, phase: 'Succeeded' }])
    assert.deepEqual(await asked({ ...held, status }, silent), [])
})

test('what the kubelet says since the delete is what it fails at, and at what', async () => {
  const passed = { ends: -40 }
  const cases: readonly (readonly [string, string, string])[] = [
    ['FailedKillPod', 'error killing pod: [failed to "KillContainer" for "main"]', 'container'],
    ['FailedKillPod', 'failed to "KillPodSandbox": networkPlugin cni failed', 'sandbox'],
    ['FailedUnMount', 'UnmountVolume.TearDown failed for volume "v": device is busy', 'volume'],
    ['FailedKillPod', 'ttrpc: closed', 'runtime'],
    ['FailedPreStopHook', 'something else', 'other'],
    ['Strange', 'the shim of a container was not reaped', 'runtime'],
  ]
  for (const [reason, message, what] of cases)
    assert.deepEqual(await asked(passed, [...WELL, event(reason, message, 5)]), [
      `refused kubelet-failing ${what} at ${at(-5)}`,
    ])
  const [reason, message] = cases[0] ?? ['', '']
  // Before it was deleted, 70 s ago; and what has nothing to do with an end.
  assert.match((await asked(passed, [...WELL, event(reason, message, 75)]))[0] ?? '', /^slow kubelet-at-work/)
  assert.match((await asked(passed, [...WELL, event(reason, message, 71)]))[0] ?? '', /^refused/)
  assert.match((await asked(passed, [...WELL, event('Unhealthy', 'probe failed', 5)]))[0] ?? '', /^slow/)
})

test('what refuses the status that tells of the end, or the last delete, is told in place of the kubelet', async () => {
  const hook = (resource: string, operation: string): Fields => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'hook' },
    webhooks: [
      {
        name: 'hook.acme.test',
        clientConfig: { service: { namespace: 'gone', name: 'gone' } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: [resource], operations: [operation], scope: '*' }],
        failurePolicy: 'Fail',
      },
    ],
  })
  const refused = ['refused admission-refuses (inferred)']
  const late = { ends: -40 }
  assert.deepEqual(await asked(late, [...WELL, hook('pods/status', 'UPDATE')]), refused)
  assert.deepEqual(await asked({ ...late, status: {} }, [...WELL, hook('pods', 'DELETE')]), refused)
  // It is not let go before its containers have ended.
  assert.match((await asked(late, [...WELL, hook('pods', 'DELETE')]))[0] ?? '', /^slow kubelet-at-work/)
  // A collector that would delete it meets the same.
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } }
  assert.deepEqual(await asked({ ...late, nodeName: '' }, [account, hook('pods', 'DELETE')]), [
    ...refused,
    'slow controller-at-work (inferred)',
  ])
  assert.deepEqual(await asked({ ...late, nodeName: '' }, [hook('pods', 'DELETE')]), [
    'nobody controller-missing (inferred)',
  ])
})

test('a node that speaks and is not ready says what keeps it from ending pods', async () => {
  const unwell = (message: string) => asked({ ends: -40 }, [node('False', message), lease(1)])
  assert.deepEqual(await unwell('PLEG is not healthy'), [`refused kubelet-failing runtime at ${at(-400)} (inferred)`])
  assert.deepEqual(await unwell('out of everything'), [`refused kubelet-failing other at ${at(-400)} (inferred)`])
})

test('a node is silent when its lease is old, or when it is not known to be ready', async () => {
  const look = (objects: readonly Fields[]) => silentNode(lookAt({ objects, now: NOW }), 'n', 'pods/p')
  const kindOf = async (objects: readonly Fields[]) => (await look(objects))?.cause.kind
  assert.equal(await kindOf(WELL), undefined)
  assert.equal(await kindOf([node('True'), lease(40)]), undefined)
  assert.equal(await kindOf([node('True'), lease(41)]), 'silent-node')
  assert.equal(await kindOf([node('Unknown'), lease(1)]), 'silent-node')
  assert.equal(await kindOf([node('False'), lease(1)]), undefined)
  assert.equal(await kindOf([node('False'), lease(41)]), 'silent-node')
  assert.equal(await kindOf([node('False')]), 'silent-node')
  assert.equal(await kindOf([node('True')]), undefined)
  const bare = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
  assert.equal(await kindOf([bare, lease(1)]), undefined)
  assert.equal(await kindOf([bare]), 'silent-node')
  const since = async (objects: readonly Fields[]) => {
    const { cause } = (await look(objects)) as Link
    return cause.kind === 'silent-node' ? [cause.since, cause.message] : []
  }
  assert.deepEqual(await since([node('True'), lease(41)]), [at(-41), 'its lease is no longer renewed'])
  assert.deepEqual(await since([node('Unknown', 'gone'), lease(1)]), [at(-500), 'R: gone'])
  assert.deepEqual(await since([bare]), ['', 'it has never reported: '])
})

test('of a node that is gone a collector takes the pods, where there is one', async () => {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } }
  const gone = (objects: readonly Fields[]) => silentNode(lookAt({ objects, now: NOW }), 'n', 'pods/p')
  assert.equal((await gone([]))?.cause.kind, 'missing-node')
  assert.equal((await gone([account]))?.cause.kind, 'controller-at-work')
  assert.deepEqual(await asked({ ends: -40, nodeName: '' }, [account]), ['slow controller-at-work (inferred)'])
  assert.deepEqual(await asked({ ends: -40, nodeName: '' }, []), ['nobody controller-missing (inferred)'])
})

test('deleted pods of a silent node that was tainted as out of service are collected, and of no other', async () => {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } }
  const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }]
  const off = (ready: 'True' | 'Unknown') => ({ ...node(ready), spec: { taints } })
  assert.deepEqual(await asked({ ends: -40 }, [off('Unknown'), lease(400), account]), ['slow controller-at-work'])
  assert.deepEqual(await asked({ ends: -40 }, [off('Unknown'), lease(400)]), ['nobody silent-node'])
  assert.deepEqual(await asked({ ends: -40 }, [node('Unknown'), lease(400), account]), ['nobody silent-node'])
  assert.deepEqual(await asked({ ends: 40 }, [off('True'), lease(1), account]), ['will-end grace-period'])
})

test('what a custom resource tells of its node counts where that is silent, and only there', async () => {
  const on = (fields: Fields, objects: readonly Fields[]) => {
    const one = { apiVersion: 'kubevirt.io/v1', kind: 'Machine', metadata: { name: 'm', namespace: 'ns' }, ...fields }
    const ref = refOf(givenResource('kubevirt.io/v1', 'Machine'), one)
    return agentLinks(lookAt({ objects, now: NOW }), ref, one)
  }
  const silent = [node('Unknown'), lease(100)]
  for (const field of ['nodeName', 'nodeID', 'node', 'ownerID']) {
    const [link] = await on({ status: { [field]: 'n' } }, silent)
    assert.deepEqual(
      [link?.cause.kind, link?.inferred, link !== undefined && 'what' in link.cause && link.cause.what],
      ['silent-node', true, 'machines.kubevirt.io/m'],
    )
    assert.equal((await on({ spec: { [field]: 'n' } }, silent)).length, 1)
  }
  assert.deepEqual(await on({ status: { nodeName: 'n' } }, WELL), [])
  assert.deepEqual(await on({ status: { nodeName: 'other' } }, silent), [])
  assert.deepEqual(await on({ status: { host: 'n' } }, silent), [])
})
