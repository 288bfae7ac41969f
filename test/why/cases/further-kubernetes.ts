/** Further causes in Kubernetes' own part of a deletion: owners, nodes, volumes, drains. */
import { formatTime } from '../../../src/base/clock.ts'
import { configMap, define, node, runningPod } from '../stage.ts'
import { attachment, type Case, LATER, volume } from './case.ts'
import { conditionOf } from './servers-that-judge.ts'

export const furtherKubernetes: Readonly<Record<string, Case>> = {
  'unserved owner': {
    title: 'a dependent names its owner by a version that is no longer served: the garbage collector does nothing',
    async setUp(stage, ns) {
      const o = configMap(ns, 'owner')
      const [made] = await stage.make(o)
      const ref = {
        apiVersion: 'apps/v1beta1',
        kind: 'Deployment',
        name: 'owner',
        uid: made?.metadata.uid,
        blockOwnerDeletion: true,
      }
      await stage.make(configMap(ns, 'dep', { ownerReferences: [ref] }))
      await stage.remove(o, { propagationPolicy: 'Foreground' })
      await stage.until(o, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'cm', name: 'owner', later: LATER }
    },
    verdict: 'cannot-end',
    cause: 'unserved-owner',
    responsible: /Deployment/,
  },
  'runtime down': {
    title: 'a node speaks, and says that its container runtime is down',
    async setUp(stage, ns) {
      await node(stage, 'rt14', true)
      await stage.status(
        { apiVersion: 'v1', kind: 'Node', metadata: { name: 'rt14' } },
        {
          conditions: [
            {
              type: 'Ready',
              status: 'False',
              reason: 'KubeletNotReady',
              message: 'container runtime is down, PLEG is not healthy: pleg was last seen active 12m ago',
              lastHeartbeatTime: formatTime(Date.now()),
              lastTransitionTime: formatTime(Date.now()),
            },
          ],
        },
      )
      const p = await runningPod(stage, ns, 'p', 'rt14', {
        spec: { terminationGracePeriodSeconds: 1, tolerations: [{ operator: 'Exists' }] },
      })
      await stage.remove(p)
      return { kind: 'pod', name: 'p', later: 42_000 }
    },
    verdict: 'refused',
    cause: 'kubelet-failing',
    responsible: /rt14/,
    sentence: /runtime/,
  },
  'finalizer copied': {
    title: 'a finalizer of claims was copied onto a ConfigMap, where no controller heeds it',
    async setUp(stage, ns) {
      const c = configMap(ns, 'a', { finalizers: ['kubernetes.io/pvc-protection'] })
      await stage.make(c)
      await stage.remove(c)
      return { kind: 'cm', name: 'a' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /pvc-protection/,
  },
  'machine volumes': {
    title: 'a Machine waits until volumes are detached, and their driver is gone',
    async setUp(stage, ns) {
      await node(stage, 'n20', true)
      await stage.make(volume('v20'), { ...attachment('va20', 'n20', 'v20') })
      const m = {
        apiVersion: 'cluster.x-k8s.io/v1',
        kind: 'Machine',
        metadata: { name: 'm20', namespace: ns, finalizers: ['machine.cluster.x-k8s.io'] },
      }
      await stage.make(m)
      await stage.remove(m)
      await stage.remove({ apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', metadata: { name: 'va20' } })
      await stage.status(m, {
        nodeRef: { name: 'n20' },
        ...conditionOf(
          'Deleting',
          'True',
          'WaitingForVolumeDetach',
          '* Waiting for Node volumes to be detached (started at 2026-01-01T00:00:00Z)',
          formatTime(Date.now()),
        ),
      })
      return { kind: 'machines.cluster.x-k8s.io', name: 'm20' }
    },
    verdict: 'nobody',
    cause: 'driver-missing',
    responsible: /csi\.acme\.test/,
  },
  'do not disrupt': {
    title: 'a NodeClaim waits for a pod that tells drains to leave it',
    async setUp(stage, ns) {
      await node(stage, 'n21', true)
      await define(stage, 'drained.acme.test', 'Claim')
      await runningPod(stage, ns, 'batch', 'n21', {
        metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
      })
      const c = {
        apiVersion: 'drained.acme.test/v1',
        kind: 'Claim',
        metadata: { name: 'nc', namespace: ns, finalizers: ['karpenter.sh/termination'] },
      }
      await stage.make(c)
      await stage.remove(c)
      await stage.status(c, { nodeName: 'n21' })
      return { kind: 'claims.drained.acme.test', name: 'nc' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /pods\/batch/,
    sentence: /do-not-disrupt/,
  },
}
