/** When volumes are attached to nodes and detached from them, in the order of the controller's writes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  attacher,
  attachmentOf,
  DRIVER,
  driver,
  inUse,
  make,
  node,
  pod,
  ready,
  remove,
  step,
  volume,
  wait,
} from './forms.ts'
import type { SeenStep } from './recording.ts'
import { replay } from './replay.ts'
import type { Act, Scenario, Step } from './scenario.ts'

const begin = (mode?: string): Step => wait(4000, ...make(driver(), node('n1'), node('n2'), ...volume('v', mode)))
const gone = (name: string): Act => remove('pods', name)
const attachment = (nodeName: string) => `attach-detach volumeattachments/<${attachmentOf('v', nodeName)}>`
const unique = `kubernetes.io/csi/${DRIVER}^handle-v`

/** `attach n1`, `detach n1`, `n1 has v`, `n1 has none`, and Events' messages. */
async function told(scenario: Scenario): Promise<readonly (readonly string[])[]> {
  return (await replay(scenario)).map((seen) =>
    Object.entries(seen)
      .flatMap(([on, writes]) => inWords(on, writes))
      .sort(),
  )
}

function inWords(on: string, writes: SeenStep[string]): readonly string[] {
  const nodeName = ['n1', 'n2'].find((name) => on === attachment(name) || on.endsWith(`nodes/${name}`))
  return writes.map((write) => {
    if (typeof write === 'string')
      return `${on.replace('event on Pod/', '')}: ${write.replace('attachdetach-controller: ', '')}`
    const text = JSON.stringify(write)
    if (text.startsWith('{"create"')) return `attach ${nodeName}`
    if (text.startsWith('{"delete"')) return `detach ${nodeName}`
    return `${nodeName} has ${text.includes(unique) ? 'v' : 'none'}`
  })
}

const succeeded = (name: string) =>
  `${name}: Normal SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "v" `
const failed = (name: string, why: string) =>
  `${name}: Warning FailedAttachVolume: AttachVolume.Attach failed for volume "v" : ${why}`

test('a volume is attached when a pod wants it, told to the kubelet, and detached when the kubelet has done with it', async () => {
  const steps = await told([
    begin(),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.takes('v', 'n1'), attacher.attached('v', 'n1')),
    step(inUse('n1', 'v'), ...make(pod('q', 'n1', 'v'))),
    step(gone('p')),
    step(gone('q')),
    step(inUse('n1')),
    step(attacher.leaves('v', 'n1')),
  ])
  assert.deepEqual(steps, [
    [],
    ['attach n1'],
    ['n1 has v', succeeded('p')],
    [],
    [],
    [],
    ['detach n1', 'n1 has none'],
    [],
  ])
})

test('a volume for one node is refused to a second one until the first has given it up', async () => {
  const steps = await told([
    begin(),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.takes('v', 'n1'), attacher.attached('v', 'n1')),
    step(...make(pod('q', 'n2', 'v'))),
    step(gone('p')),
    step(attacher.leaves('v', 'n1')),
    step(attacher.attached('v', 'n2')),
  ])
  const refused = 'q: Warning FailedAttachVolume: Waiting for detach for volume "v" Volume is already used by pod(s) p'
  assert.deepEqual(steps.slice(3), [
    [refused],
    ['detach n1', 'n1 has none'],
    ['attach n2'],
    ['n2 has v', succeeded('q')],
  ])
})

test('a volume for many nodes is attached to each', async () => {
  const steps = await told([
    begin('ReadWriteMany'),
    step(...make(pod('p', 'n1', 'v'), pod('q', 'n2', 'v'))),
    step(attacher.attached('v', 'n1'), attacher.attached('v', 'n2')),
    step(gone('p')),
  ])
  assert.deepEqual(steps.slice(1), [
    ['attach n1', 'attach n2'],
    ['n1 has v', 'n2 has v', succeeded('p'), succeeded('q')].sort(),
    ['detach n1', 'n1 has none'],
  ])
})

test('nothing is attached for a driver that needs it not, nor for a kubelet that attaches by itself', async () => {
  const none = await told([
    wait(4000, ...make(driver({ attachRequired: false }), node('n1'), ...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
  ])
  const own = await told([
    wait(4000, ...make(driver(), node('n1', {}), ...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
  ])
  assert.deepEqual(
    [none, own],
    [
      [[], []],
      [[], []],
    ],
  )
})

test('what the attacher says went wrong is told to the pod, and tried again', async () => {
  const steps = await told([
    begin(),
    step(...make(pod('p', 'n1', 'v'))),
    wait(3000, attacher.failed('v', 'n1', 'no room')),
    wait(9000, attacher.attached('v', 'n1', { attachError: null })),
    step(gone('p')),
  ])
  assert.deepEqual(steps.slice(2), [
    [failed('p', 'no room')],
    ['n1 has v', succeeded('p')],
    ['detach n1', 'n1 has none'],
  ])
})

test('an attacher that says nothing is given up after two minutes; what may be attached is detached', async () => {
  const steps = await told([begin(), wait(115_000, ...make(pod('p', 'n1', 'v'))), wait(10_000), wait(5000, gone('p'))])
  const late = `timed out waiting for external-attacher of ${DRIVER} CSI driver to attach volume handle-v`
  assert.deepEqual(steps[1], ['attach n1'])
  assert.deepEqual(steps[2], [failed('p', late)])
})

test('a node that is silent loses its volumes after six minutes, one that is ready keeps what it has in use', async () => {
  const until = (readiness: string): Scenario => [
    begin(),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.attached('v', 'n1'), inUse('n1', 'v')),
    wait(350_000, ready('n1', readiness), gone('p')),
    wait(20_000),
  ]
  assert.deepEqual((await told(until('Unknown'))).slice(3), [[], ['detach n1', 'n1 has none']])
  assert.deepEqual((await told(until('True'))).slice(3), [[], []])
})

test('a node out of service loses its volumes at once', async () => {
  const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }]
  const steps = await told([
    begin(),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.attached('v', 'n1'), inUse('n1', 'v')),
    step(gone('p')),
    step({ change: 'nodes', name: 'n1', by: { spec: { taints } } }),
  ])
  assert.deepEqual(steps.slice(3), [[], ['detach n1', 'n1 has none']])
})

test('a controller that starts goes on where another has left off', async () => {
  const steps = await told([
    begin(),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.attached('v', 'n1')),
    wait(1000, { controllers: 'stop' }),
    wait(5000, { controllers: 'start' }),
    wait(1000, { controllers: 'stop' }, gone('p')),
    wait(5000, { controllers: 'start' }),
  ])
  assert.deepEqual(steps.slice(3), [[], [], [], ['detach n1', 'n1 has none']])
})

test('an attachment that another has deleted is made again', async () => {
  const steps = await told([
    begin(),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.attached('v', 'n1')),
    wait(70_000, remove('volumeattachments', attachmentOf('v', 'n1'))),
  ])
  assert.deepEqual(steps[3], ['attach n1', 'n1 has none'])
})
