/** Owners and dependents. */

import { configMap } from '../stage.ts'
import { type Case, held, ownerOf } from './case.ts'

export const owners: Readonly<Record<string, Case>> = {
  '11': {
    title: 'a foreground owner waits for a dependent with a finalizer of its own',
    async setUp(stage, namespace) {
      const owner = configMap(namespace, 'owner')
      const [made] = await stage.make(owner)
      const more = ownerOf(owner, made?.metadata.uid ?? '', { blockOwnerDeletion: true })
      const dependent = configMap(namespace, 'dependent', { ...held, ...more })
      await stage.make(dependent)
      await stage.remove(owner, { propagationPolicy: 'Foreground' })
      await stage.until(dependent, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'configmap', name: 'owner' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /acme\.test\/cleanup/,
  },
  '13': {
    title: 'an object vanished: its owner is in another namespace',
    async setUp(stage, namespace) {
      const owner = configMap(await stage.namespace(`${namespace}-owner`), 'owner')
      const [made] = await stage.make(owner)
      const object = configMap(namespace, 'lost', ownerOf(owner, made?.metadata.uid ?? ''))
      await stage.make(object)
      await stage.until(object, undefined)
      const told = { apiVersion: 'v1', kind: 'Event', metadata: { namespace } }
      await stage.untilAny(told, ({ reason }) => reason === 'OwnerRefInvalidNamespace')
      return { kind: 'cm', name: 'lost' }
    },
    verdict: 'not-stuck',
    cause: 'lost-owner',
    responsible: /owner of another namespace/,
    sentence: /garbage collector deleted it.*OwnerRefInvalidNamespace/,
    exitCode: 4,
  },
}
