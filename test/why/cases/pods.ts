/** Pods that do not end: nodes, kubelets and what they work with. */

import { define, node, pod, runningPod, warn } from '../stage.ts'
import { type Case, LATER } from './case.ts'

/** A pod on a node whose kubelet is there, past its grace period, about which the kubelet says this. */
function kubeletCase(title: string, reason: string, message: string, sentence: RegExp): Case {
  return {
    title,
    async setUp(stage, namespace) {
      await node(stage, namespace, true)
      const object = await runningPod(stage, namespace, 'p', namespace)
      await stage.remove(object, { gracePeriodSeconds: 1 })
      await warn(stage, object, reason, message)
      return { kind: 'pod', name: 'p', later: LATER }
    },
    verdict: 'refused',
    cause: 'kubelet-failing',
    responsible: /^kubelet of node case-/,
    sentence,
  }
}

export const pods: Readonly<Record<string, Case>> = {
  '9': {
    title: 'a pod on a node whose kubelet is silent',
    async setUp(stage, namespace) {
      await node(stage, 'silent-9', false)
      const object = await runningPod(stage, namespace, 'p', 'silent-9', {
        spec: { tolerations: [{ operator: 'Exists' }] },
      })
      await stage.remove(object)
      return { kind: 'pod', name: 'p', later: LATER }
    },
    verdict: 'nobody',
    cause: 'silent-node',
    responsible: /kubelet of node silent-9/,
  },
  '10': kubeletCase(
    'a container cannot be killed',
    'FailedKillPod',
    'error killing pod: failed to "KillContainer" for "main" with KillContainerError: "rpc error: code = DeadlineExceeded desc = an error occurs during waiting for container to be killed: wait container: context deadline exceeded"',
    /container cannot be killed/,
  ),
  '25': {
    title: 'a drain waits for a budget',
    async setUp(stage, namespace) {
      const labels = { app: 'guarded' }
      const object = pod(namespace, 'p', {}, { labels })
      const budget = {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'guard', namespace },
        spec: { minAvailable: 1, selector: { matchLabels: labels } },
      }
      await stage.make(object, budget)
      await stage.until(budget, ({ status }) => status?.currentHealthy === 1 && status?.disruptionsAllowed === 0)
      const cordon = (unschedulable: boolean) =>
        stage.of({ apiVersion: 'v1', kind: 'Node', metadata: {} }).patch(nodeName, 'merge', { spec: { unschedulable } })
      await stage.until(object, ({ spec }) => spec.nodeName !== undefined)
      const nodeName: string = (await stage.of(object).get('p'))['spec'].nodeName
      await cordon(true)
      return { kind: 'node', name: nodeName, undo: () => cordon(false) }
    },
    verdict: 'refused',
    cause: 'budget',
    responsible: /poddisruptionbudgets\.policy\/guard in namespace case-25/,
    sentence: /1 of 1 pods are healthy, and it wants 1/,
  },
  '26': {
    title: 'a Machine waits for the drain of a node whose kubelet is dead',
    async setUp(stage, namespace) {
      await define(stage, 'cluster.x-k8s.io', 'Machine')
      await node(stage, 'dead-26', false)
      const object = await runningPod(stage, namespace, 'p', 'dead-26', {
        spec: { tolerations: [{ operator: 'Exists' }] },
      })
      await stage.remove(object)
      const machine = {
        apiVersion: 'cluster.x-k8s.io/v1',
        kind: 'Machine',
        metadata: { name: 'm', namespace, finalizers: ['machine.cluster.x-k8s.io'] },
      }
      await stage.make({ ...machine, status: { nodeRef: { name: 'dead-26' } } })
      await stage.remove(machine)
      return { kind: 'machine', name: 'm', later: LATER }
    },
    verdict: 'nobody',
    cause: 'silent-node',
    responsible: /kubelet of node dead-26/,
  },
  '27': kubeletCase(
    'the network plugin fails to take the sandbox down',
    'FailedKillPod',
    'error killing pod: failed to "KillPodSandbox" for "u" with KillPodSandboxError: "rpc error: code = Unknown desc = failed to destroy network for sandbox \\"s\\": plugin type=\\"multus\\" failed (delete): netplugin failed"',
    /sandbox \(its network\) cannot be taken down/,
  ),
  '28': kubeletCase(
    'a volume cannot be unmounted',
    'FailedUnMount',
    'UnmountVolume.TearDown failed for volume "data": unmount failed: exit status 32: umount: /var/lib/kubelet/pods/u/volumes/data: target is busy.',
    /volume cannot be unmounted/,
  ),
  '29': kubeletCase(
    "the runtime's shim was not reaped",
    'FailedKillPod',
    'error killing pod: failed to "KillContainer" for "main" with KillContainerError: "rpc error: code = Unknown desc = failed to stop container: ttrpc: closed: shim task not reaped"',
    /runtime does not let go/,
  ),
}
