/** Controllers of custom resources that are gone, forbidden or failing. */

import { define, operator, workload } from '../stage.ts'
import { type Case, held, ownerOf } from './case.ts'

export const operators: Readonly<Record<string, Case>> = {
  '2': {
    title: 'an operator was removed before its objects',
    async setUp(stage, namespace) {
      const crd = await define(stage, 'left.acme.test', 'Widget')
      await stage.make({ apiVersion: 'left.acme.test/v1', kind: 'Widget', metadata: { name: 'w', namespace, ...held } })
      await stage.remove(crd)
      await stage.until(
        { apiVersion: 'left.acme.test/v1', kind: 'Widget', metadata: { name: 'w', namespace } },
        (one) => one.metadata.deletionTimestamp !== undefined,
      )
      return { kind: 'crd', name: 'widgets.left.acme.test' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /acme\.test\/cleanup/,
  },
  '7 account': {
    title: "the service account of an operator's pods went first",
    async setUp(stage, namespace) {
      await define(stage, 'account.acme.test', 'Cog')
      const system = await stage.namespace('cog-operator-system')
      await stage.make(workload(system, 'cog-operator'))
      const object = {
        apiVersion: 'account.acme.test/v1',
        kind: 'Cog',
        metadata: { name: 'c', namespace, finalizers: ['account.acme.test/cleanup'] },
      }
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'cog', name: 'c' }
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /cog-operator/,
    sentence: /serviceaccounts\/cog-operator in namespace cog-operator-system does not exist/,
  },
  '7 credential': {
    title: 'the credentials that a controller needs went first',
    async setUp(stage, namespace) {
      await define(stage, 'db.acme.test', 'Database')
      await operator(stage, 'database-operator', 'db.acme.test')
      const object = {
        apiVersion: 'db.acme.test/v1',
        kind: 'Database',
        metadata: { name: 'd', namespace, finalizers: ['db.acme.test/cleanup'] },
        spec: { credentialsSecretRef: { name: 'cloud' } },
      }
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'databases.db.acme.test', name: 'd' }
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /controller of Database/,
    sentence: /secrets\/cloud in namespace case-7-credential does not exist/,
  },
  '7 role': {
    title: 'the role of an operator went first',
    async setUp(stage, namespace) {
      await define(stage, 'role.acme.test', 'Sprocket')
      await operator(stage, 'sprocket-operator', 'role.acme.test')
      const object = {
        apiVersion: 'role.acme.test/v1',
        kind: 'Sprocket',
        metadata: { name: 's', namespace, finalizers: ['role.acme.test/cleanup'] },
      }
      await stage.make(object)
      await stage.remove(object)
      const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'sprocket-operator' } }
      await stage.remove({ ...rbac, kind: 'ClusterRole' })
      return { kind: 'sprocket', name: 's' }
    },
    verdict: 'refused',
    cause: 'controller-forbidden',
    responsible: /sprocket-operator/,
    sentence: /may not update or patch sprockets\.role\.acme\.test/,
  },
  '21': {
    title: 'an Argo CD Application whose target cluster cannot be reached',
    async setUp(stage, namespace) {
      await define(stage, 'argoproj.io', 'Application')
      await operator(stage, 'argocd-application-controller', 'argoproj.io')
      const object = {
        apiVersion: 'argoproj.io/v1',
        kind: 'Application',
        metadata: { name: 'app', namespace, finalizers: ['resources-finalizer.argocd.argoproj.io'] },
      }
      await stage.make(object)
      await stage.remove(object)
      await stage.status(object, {
        conditions: [
          {
            type: 'DeletionError',
            message: 'dial tcp 10.0.0.1:6443: i/o timeout',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      })
      return { kind: 'application', name: 'app' }
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /argocd-application-controller/,
    sentence: /i\/o timeout/,
  },
  '23': {
    title: 'a Challenge of cert-manager whose Order went first',
    async setUp(stage, namespace) {
      await define(stage, 'acme.cert-manager.io', 'Challenge')
      await define(stage, 'acme.cert-manager.io', 'Order')
      await operator(stage, 'cert-manager', 'acme.cert-manager.io')
      const order = { apiVersion: 'acme.cert-manager.io/v1', kind: 'Order', metadata: { name: 'o', namespace } }
      const [made] = await stage.make(order)
      const object = {
        apiVersion: 'acme.cert-manager.io/v1',
        kind: 'Challenge',
        metadata: {
          name: 'c',
          namespace,
          finalizers: ['finalizer.acme.cert-manager.io'],
          ...ownerOf(order, made?.metadata.uid ?? ''),
        },
      }
      await stage.make(object)
      await stage.remove(order)
      await stage.until(object, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'challenge', name: 'c' }
    },
    verdict: 'cannot-end',
    cause: 'lost-owner',
    responsible: /Order o/,
  },
}
