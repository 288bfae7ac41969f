import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ContainerChecks, computePodActions } from './init-containers-sidecars-and-restarts.ts'
import type { Pod } from './pod.ts'
import type { RuntimePodStatus } from './pod-cache.ts'
import type { RuntimeContainerStatus } from './runtimes/runtime.ts'

const fine: ContainerChecks = { livenessFailed: () => false, startupFailed: () => false, started: () => true }

function pod(policy: string, containers: readonly string[], inits: readonly object[] = []): Pod {
  const spec = { restartPolicy: policy, containers: containers.map((name) => ({ name })), initContainers: inits }
  return { kind: 'Pod', apiVersion: 'v1', metadata: { uid: 'u' }, spec } as unknown as Pod
}

/** By name: `running`, or the exit code. */
function runtime(
  containers: Readonly<Record<string, 'running' | number>>,
  sandbox: 'ready' | 'notReady' | 'none' = 'ready',
): RuntimePodStatus {
  const metadata = { name: 'p', namespace: 'n', uid: 'u', attempt: 0 }
  return {
    uid: 'u',
    ips: [],
    sandboxes: sandbox === 'none' ? [] : [{ id: 's', metadata, state: sandbox, createdAt: 0, ips: [] }],
    containers: Object.entries(containers).map(
      ([name, state]) =>
        ({
          id: name,
          metadata: { name, attempt: 0 },
          state: state === 'running' ? 'running' : 'exited',
          exitCode: state === 'running' ? 0 : state,
          labels: {},
        }) as RuntimeContainerStatus,
    ),
  }
}

function actions(of: Pod, status: RuntimePodStatus, checks: ContainerChecks = fine) {
  const { killPod, createSandbox, kill, start } = computePodActions(of, status, checks)
  return { killPod, createSandbox, kill: kill.map(({ message }) => message), start: start.map(({ name }) => name) }
}
const nothing = { killPod: false, createSandbox: false, kill: [], start: [] }

test('a new pod gets a sandbox, and its containers or its first init container', () => {
  assert.deepEqual(actions(pod('Always', ['a', 'b']), runtime({}, 'none')), {
    ...nothing,
    createSandbox: true,
    start: ['a', 'b'],
  })
  const withInit = pod('Always', ['a'], [{ name: 'i' }, { name: 'j' }])
  assert.deepEqual(actions(withInit, runtime({}, 'none')).start, ['i'])
})

test('a pod that is as it should be is left alone', () => {
  assert.deepEqual(actions(pod('Always', ['a']), runtime({ a: 'running' })), nothing)
})

test('an init container’s own rules and policy say whether it runs again', () => {
  const rules = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }]
  const own = [{ name: 'i', restartPolicy: 'Never', restartPolicyRules: rules }]
  assert.deepEqual(actions(pod('Never', ['a'], own), runtime({ i: 42 })).start, ['i'])
  assert.deepEqual(actions(pod('Always', ['a'], own), runtime({ i: 1 })).start, [])
})

test('init containers run one after the other, and again when they failed and may', () => {
  const inits = [{ name: 'i' }, { name: 'j' }]
  assert.deepEqual(actions(pod('Always', ['a'], inits), runtime({ i: 'running' })), nothing)
  assert.deepEqual(actions(pod('Always', ['a'], inits), runtime({ i: 0 })).start, ['j'])
  assert.deepEqual(actions(pod('Always', ['a'], inits), runtime({ i: 0, j: 1 })).start, ['j'])
  assert.deepEqual(actions(pod('Never', ['a'], inits), runtime({ i: 0, j: 1 })).start, [])
  assert.deepEqual(actions(pod('Always', ['a'], inits), runtime({ i: 0, j: 0 })).start, ['a'])
})

test('a container waits for the sidecar before it to have started', () => {
  const of = pod('Always', ['a'], [{ name: 's', restartPolicy: 'Always' }])
  assert.deepEqual(actions(of, runtime({})).start, ['s'])
  assert.deepEqual(actions(of, runtime({ s: 'running' }), { ...fine, started: () => false }), nothing)
  assert.deepEqual(actions(of, runtime({ s: 'running' })).start, ['a'])
  assert.deepEqual(actions(of, runtime({ s: 1, a: 'running' })).start, ['s'])
})

test('ended containers are started again as the policy says; when none is left the pod is killed', () => {
  assert.deepEqual(actions(pod('Always', ['a']), runtime({ a: 0 })).start, ['a'])
  assert.deepEqual(actions(pod('OnFailure', ['a', 'b']), runtime({ a: 0, b: 1 })).start, ['b'])
  assert.deepEqual(actions(pod('Never', ['a']), runtime({ a: 1 })), { ...nothing, killPod: true })
  const of = pod('Never', ['a'], [{ name: 's', restartPolicy: 'Always' }])
  assert.equal(actions(of, runtime({ s: 'running', a: 0 })).killPod, true)
})

test('a failed probe kills the container, and starts it again where the policy lets it', () => {
  const failing = { ...fine, livenessFailed: () => true }
  const of = pod('Always', ['a'], [{ name: 's', restartPolicy: 'Always' }])
  const sidecarFails = { ...fine, livenessFailed: (id: string) => id === 's' }
  const { kill, start } = actions(of, runtime({ s: 'running', a: 'running' }), sidecarFails)
  assert.deepEqual([kill, start], [['Init container s failed liveness probe'], ['s']])
  assert.deepEqual(actions(pod('Always', ['a']), runtime({ a: 'running' }), failing), {
    ...nothing,
    kill: ['Container a failed liveness probe, will be restarted'],
    start: ['a'],
  })
  const oneFails = { ...fine, livenessFailed: (id: string) => id === 'a' }
  assert.deepEqual(actions(pod('Never', ['a', 'b']), runtime({ a: 'running', b: 'running' }), oneFails), {
    ...nothing,
    kill: ['Container a failed liveness probe'],
  })
  // The last one that runs ends with its pod, in the pod's time: a kubelet v1.37.1 says `Stopping container a` of it.
  for (const containers of [{ a: 'running' }, { a: 'running', b: 0 }] as const)
    assert.deepEqual(actions(pod('Never', Object.keys(containers)), runtime(containers), failing), {
      ...nothing,
      killPod: true,
    })
})

test('a lost sandbox is made anew, but not for a pod that has run and is not restarted', () => {
  assert.deepEqual(actions(pod('Always', ['a']), runtime({ a: 137 }, 'notReady')), {
    ...nothing,
    killPod: true,
    createSandbox: true,
    start: ['a'],
  })
  assert.deepEqual(actions(pod('Never', ['a']), runtime({ a: 137 }, 'notReady')), { ...nothing, killPod: true })
})

test('an ephemeral container is started once, whatever the others do, and does not keep a pod', () => {
  const base = pod('Never', ['a'], [{ name: 'i' }])
  const debugged = { ...base, spec: { ...base.spec, ephemeralContainers: [{ name: 'e' }] } } as Pod
  assert.deepEqual(actions(debugged, runtime({ i: 'running' })), { ...nothing, start: ['e'] })
  assert.deepEqual(actions(debugged, runtime({ i: 0, a: 'running', e: 1 })), nothing)
  assert.deepEqual(actions(debugged, runtime({ i: 0, a: 0, e: 'running' })), { ...nothing, killPod: true })
})
