/** Operators that do not end their objects: how they are found, what they were told, and what they wait for. */
import { formatMicroTime } from '../../../src/base/clock.ts'
import { define, operator, workload } from '../stage.ts'
import { type Case, ownerOf } from './case.ts'
import { operatorWithLog, stuck } from './other-software.ts'
import { conditionOf } from './servers-that-judge.ts'

export const furtherOperators: Readonly<Record<string, Case>> = {
  'role elsewhere': {
    title: 'an operator has its role in other namespaces alone',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, {
        group: 'r5.test',
        kind: 'Tenantdb',
        namespace: ns,
        finalizer: 'r5.test/cleanup',
      })
      const sys = await stage.namespace('r5-operator-system')
      const d = workload(sys, 'r5-operator')
      await stage.make(
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'r5-operator', namespace: sys } },
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'r5', namespace: sys },
          rules: [{ apiGroups: ['r5.test'], resources: ['*'], verbs: ['*'] }],
        },
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'r5', namespace: sys },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r5' },
          subjects: [{ kind: 'ServiceAccount', name: 'r5-operator', namespace: sys }],
        },
        d,
      )
      await stage.until(d, ({ status }) => (status?.['readyReplicas'] ?? 0) > 0)
      return question
    },
    verdict: 'refused',
    cause: 'controller-forbidden',
    responsible: /r5-operator/,
  },
  'stale condition': {
    title: 'an operator was removed; a condition of before still tells of an old failure (kuadrant-operator 169)',
    async setUp(stage, ns) {
      return (
        await stuck(stage, {
          group: 'k6.test',
          kind: 'Kuadrant',
          namespace: ns,
          finalizer: 'k6.test/finalizer',
          status: conditionOf('Ready', 'False', 'ReconcilliationError', 'IstioOperator "istiocontrolplane" not found'),
        })
      ).question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /k6\.test\/finalizer/,
  },
  'flux set': {
    title: 'of several controllers of one family the one that set the finalizer is stopped',
    async setUp(stage, ns) {
      await define(stage, 'helm.toolkit.fluxcd.io', 'HelmRelease')
      const sys = await stage.namespace('flux-system')
      for (const n of ['helm-controller', 'source-controller', 'kustomize-controller']) {
        const d = workload(sys, n)
        await stage.make(
          { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: n, namespace: sys } },
          { ...d, spec: { ...d['spec'], replicas: n === 'helm-controller' ? 0 : 1 } },
        )
        if (n !== 'helm-controller') await stage.until(d, ({ status }) => (status?.['readyReplicas'] ?? 0) > 0)
      }
      await stage.make({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'flux-reconciler' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: ['helm-controller', 'source-controller', 'kustomize-controller'].map((name) => ({
          kind: 'ServiceAccount',
          name,
          namespace: sys,
        })),
      })
      const o = {
        apiVersion: 'helm.toolkit.fluxcd.io/v1',
        kind: 'HelmRelease',
        metadata: { name: 'apps', namespace: ns, finalizers: ['finalizers.fluxcd.io'] },
        spec: { chart: {} },
      }
      await stage.of(o).create(o as never, { fieldManager: 'helm-controller' })
      await stage.remove(o)
      return { kind: 'helmrelease', name: 'apps' }
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /helm-controller/,
  },
  'flux named': {
    title: 'of several controllers of one family the one named like the group is stopped',
    async setUp(stage, ns) {
      const o = {
        apiVersion: 'helm.toolkit.fluxcd.io/v1',
        kind: 'HelmRelease',
        metadata: { name: 'apps', namespace: ns, finalizers: ['finalizers.fluxcd.io'] },
        spec: { chart: {} },
      }
      await stage.make(o)
      await stage.remove(o)
      return { kind: 'helmrelease', name: 'apps' }
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /helm-controller/,
  },
  'paused owner': {
    title: 'a Machine is left alone, since the Cluster that owns its owner is paused',
    async setUp(stage, ns) {
      await define(stage, 'fleet.acme.test', 'Cluster')
      await define(stage, 'fleet.acme.test', 'MachineSet')
      await define(stage, 'fleet.acme.test', 'Machine')
      await operator(stage, 'fleet-controller-manager', 'fleet.acme.test')
      const c = {
        apiVersion: 'fleet.acme.test/v1',
        kind: 'Cluster',
        metadata: { name: 'c', namespace: ns },
        spec: { paused: true },
      }
      const [made] = await stage.make(c)
      const ms = {
        apiVersion: 'fleet.acme.test/v1',
        kind: 'MachineSet',
        metadata: { name: 's', namespace: ns, ...ownerOf(c, made?.metadata.uid ?? '') },
      }
      const [ms1] = await stage.make(ms)
      const m = {
        apiVersion: 'fleet.acme.test/v1',
        kind: 'Machine',
        metadata: {
          name: 'm',
          namespace: ns,
          finalizers: ['fleet.acme.test/machine'],
          labels: { 'fleet.acme.test/cluster-name': 'c' },
          ...ownerOf(ms, ms1?.metadata.uid ?? ''),
        },
        spec: { clusterName: 'c' },
      }
      await stage.make(m)
      await stage.remove(m)
      return { kind: 'machines.fleet.acme.test', name: 'm' }
    },
    verdict: 'nobody',
    cause: 'paused',
    responsible: /Cluster|Machine/,
  },
  'reconcile disabled': {
    title: 'an annotation says that the object is not to be reconciled',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, {
        group: 'e10.test',
        kind: 'Search',
        namespace: ns,
        finalizer: 'e10.test/cleanup',
        metadata: { annotations: { 'e10.test/reconcile': 'disabled' } },
      })
      await operator(stage, 'e10-operator', 'e10.test')
      return question
    },
    verdict: 'nobody',
    cause: 'paused',
    responsible: /Search/,
  },
  'status resources': {
    title: 'an Application waits for what its status says that it deployed',
    async setUp(stage, ns) {
      await define(stage, 'deployer.acme.test', 'Application')
      await define(stage, 'db11.test', 'Postgres')
      await operator(stage, 'acme-deployer', 'deployer.acme.test')
      const db = {
        apiVersion: 'db11.test/v1',
        kind: 'Postgres',
        metadata: { name: 'pg', namespace: ns, finalizers: ['db11.test/backup'] },
      }
      const app = {
        apiVersion: 'deployer.acme.test/v1',
        kind: 'Application',
        metadata: { name: 'app', namespace: ns, finalizers: ['deployer.acme.test/resources'] },
        spec: { project: 'default' },
      }
      await stage.make(db, app)
      await stage.status(app, {
        resources: [
          { group: 'db11.test', version: 'v1', kind: 'Postgres', namespace: ns, name: 'pg', status: 'Synced' },
        ],
      })
      await stage.remove(db)
      await stage.remove(app)
      return { kind: 'applications.deployer.acme.test', name: 'app' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /db11\.test\/backup/,
  },
  'status inventory': {
    title: 'an inventory names what does not go',
    async setUp(stage, ns) {
      const { question, object } = await stuck(stage, {
        group: 'inv12.test',
        kind: 'Pile',
        namespace: ns,
        finalizer: 'inv12.test/f',
      })
      await operator(stage, 'inv12-operator', 'inv12.test')
      await define(stage, 'left12.test', 'Left')
      const l = {
        apiVersion: 'left12.test/v1',
        kind: 'Left',
        metadata: { name: 'l', namespace: ns, finalizers: ['left12.test/f'] },
      }
      await stage.make(l)
      await stage.remove(l)
      await stage.status(object, { inventory: { entries: [{ id: `${ns}_l_left12.test_Left`, v: 'v1' }] } })
      return question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /left12/,
  },
  'core in use': {
    title: 'a Secret is protected by an operator as long as its objects name it (gardener)',
    async setUp(stage, ns) {
      await define(stage, 'g22.test', 'Binding22')
      const sys = await operator(stage, 'g22-operator', 'g22.test')
      await stage.make({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'g22-edit' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'ServiceAccount', name: 'g22-operator', namespace: sys }],
      })
      await stage.make({
        apiVersion: 'g22.test/v1',
        kind: 'Binding22',
        metadata: { name: 'b', namespace: ns },
        spec: { secretRef: { name: 's' } },
      })
      const s = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 's', namespace: ns, finalizers: ['g22.test/secret-in-use'] },
      }
      await stage.make(s)
      await stage.remove(s)
      return { kind: 'secret', name: 's' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /binding22s/,
  },
  'log says': {
    title: 'a controller waits, its log says for what kind, and one of that names the object (openchoreo 4008)',
    async setUp(stage, ns) {
      await define(stage, 'choreo27.test', 'Resource27')
      await define(stage, 'choreo27.test', 'ReleaseBinding')
      const o = {
        apiVersion: 'choreo27.test/v1',
        kind: 'Resource27',
        metadata: { name: 'x', namespace: ns, finalizers: ['choreo27.test/resource-cleanup'] },
      }
      await stage.make(o, {
        apiVersion: 'choreo27.test/v1',
        kind: 'ReleaseBinding',
        metadata: { name: 'b', namespace: ns },
        spec: { resourceRef: { kind: 'Resource27', name: 'x' }, retainPolicy: 'Retain' },
      })
      await stage.remove(o)
      await operatorWithLog(
        stage,
        'choreo27-operator',
        'choreo27.test',
        `INFO Waiting for ReleaseBindings to be deleted {"controller": "resource27", "name": "x", "namespace": "${ns}"}`,
      )
      return { kind: 'resource27', name: 'x' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /releasebindings\.choreo27\.test\/b/,
  },
  'lease lost': {
    title: 'an operator does not lead: its lease was held by a pod that is gone',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, {
        group: 'l30.test',
        kind: 'Led',
        namespace: ns,
        finalizer: 'l30.test/cleanup',
      })
      const sys = await operator(stage, 'l30-operator', 'l30.test')
      await stage.make({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: '8f2b2c3d.l30.test', namespace: sys },
        spec: {
          holderIdentity: 'old-controller-5d9-x_1234',
          leaseDurationSeconds: 15,
          renewTime: formatMicroTime(Date.now() - 3_600_000),
        },
      })
      return question
    },
    verdict: 'nobody',
    cause: 'controller-not-leading',
    responsible: /l30-operator/,
  },
}
