/** A controller that another component gives up is run once that has given its Lease back, and by no other in between (KEP-2436). */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { withoutKubectl } from '../kubectl.ts'
import { startProcesses } from './processes.ts'

const FILE = `apiVersion: controllermanager.config.k8s.io/v1
kind: LeaderMigrationConfiguration
leaderName: migration
controllerLeaders:
- {name: deployment-controller, component: '*'}
- {name: cronjob-controller, component: cloud-controller-manager}
`

test('what migrates waits for the other component and runs after it; the process ends when either Lease is lost', {
  skip: withoutKubectl,
}, async () => {
  await using at = await startProcesses()
  writeFileSync(at.file('migration.yaml'), FILE)
  const { kubectl } = at
  const holderOf = async (lease: string) =>
    (await kubectl.json('-n', 'kube-system', 'get', 'lease', lease)).spec.holderIdentity
  const give = (holderIdentity: string, leaseDurationSeconds: number) => {
    const renewTime = new Date().toISOString().replace('Z', '000Z')
    const spec = { holderIdentity, leaseDurationSeconds, renewTime, acquireTime: renewTime }
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'migration', namespace: 'kube-system' },
      spec,
    }
  }
  await kubectl.send('create', give('cloud', 3600))
  const config = await at.kubeconfigOf('system:kube-controller-manager')
  const manager = at.start(
    ...['controller-manager', '--kubeconfig', config, '--use-service-account-credentials', '--secure-port', '0'],
    ...['--enable-leader-migration', '--leader-migration-config', at.file('migration.yaml')],
  )
  await manager.until(/The controllers run/)
  assert.match(manager.said, /leads: it has the lease kube-system\/kube-controller-manager/)

  await kubectl('create', 'deployment', 'web', '--image=nginx')
  const template = { metadata: { labels: { app: 'own' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
  await kubectl.send('create', {
    ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'own' } },
    spec: { replicas: 1, selector: { matchLabels: { app: 'own' } }, template },
  })
  await kubectl('wait', '--for=jsonpath={.status.replicas}=1', 'replicaset/own', '--timeout=60s')
  // Those that do not migrate have done their work; the Deployment, which was there before, waits.
  assert.equal((await kubectl('get', 'replicasets', '-o', 'name')).trim(), 'replicaset.apps/own')
  assert.doesNotMatch(manager.said, /it has the lease kube-system\/migration/)

  await kubectl.send('replace', give('', 1))
  await manager.until(/leads: it has the lease kube-system\/migration/)
  await kubectl('wait', '--for=jsonpath={.status.replicas}=1', 'deployment/web', '--timeout=60s')
  assert.equal(await holderOf('migration'), await holderOf('kube-controller-manager'))

  await kubectl.send('replace', give('cloud', 3600))
  assert.equal(await manager.ended, 1)
  assert.match(manager.said, /kube-system\/migration/)
})

test('a user that may not delete is warned of once, though there are two Leases', {
  skip: withoutKubectl,
}, async () => {
  await using at = await startProcesses()
  writeFileSync(at.file('migration.yaml'), FILE)
  const config = await at.kubeconfigOf('system:kube-controller-manager')
  const manager = at.start(
    ...['controller-manager', '--kubeconfig', config, '--secure-port', '0'],
    ...['--enable-leader-migration', '--leader-migration-config', at.file('migration.yaml')],
  )
  await manager.until(/(The controllers run[\s\S]*){2}/)
  assert.equal(manager.said.match(/may not delete pods/g)?.length, 1, manager.said)
})
