/** Namespaces that wait for what is in them, or for their own finalizer. */

import { configMap, define, pod, warn } from '../stage.ts'
import { type Case, held } from './case.ts'

export const namespaces: Readonly<Record<string, Case>> = {
  '8': {
    title: 'a finalizer must create something in the namespace that goes',
    async setUp(stage, namespace) {
      await define(stage, 'ray.io', 'RayCluster')
      const object = {
        apiVersion: 'ray.io/v1',
        kind: 'RayCluster',
        metadata: { name: 'r', namespace, finalizers: ['ray.io/gcs-ft-redis-cleanup-finalizer'] },
      }
      await stage.make(object)
      await stage.remove(object)
      await warn(
        stage,
        object,
        'FailedToCreateJob',
        `jobs.batch "r-cleanup" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
        'raycluster-controller',
      )
      await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      return { kind: 'namespace', name: namespace }
    },
    verdict: 'cannot-end',
    cause: 'namespace-terminating',
    responsible: /raycluster-controller/,
  },
  '20': {
    title: "a namespace with Rancher's finalizer, after Rancher",
    async setUp(stage, namespace) {
      await stage.namespace(`${namespace}-r`, { finalizers: ['controller.cattle.io/namespace-auth'] })
      const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${namespace}-r` } }
      await stage.remove(space)
      await stage.until(space, ({ spec }) => (spec.finalizers ?? []).length === 0)
      return { kind: 'ns', name: `${namespace}-r` }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /Rancher/,
  },
  '30': {
    title: 'one pod of a namespace has a finalizer: everything else waits behind it',
    async setUp(stage, namespace) {
      await stage.make(pod(namespace, 'p', { schedulerName: 'none' }, held), configMap(namespace, 'behind'))
      const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
      await stage.remove(space)
      await stage.until(
        { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace } },
        ({ metadata }) => metadata.deletionTimestamp !== undefined,
      )
      return { kind: 'ns', name: namespace }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /acme\.test\/cleanup/,
  },
}
