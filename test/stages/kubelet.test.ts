/** skiff kubelet --stages: one node of a cluster and its pods, played with a node's own rights. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { startProcesses } from '../components/processes.ts'
import { withoutKubectl } from '../kubectl.ts'
import { claimIsServed, nodeStarts, podIsLetGo, podStarts } from './stages.ts'

const write = (file: string, ...stages: readonly object[]) =>
  writeFileSync(file, stages.map((stage) => JSON.stringify(stage)).join('\n---\n'))

test('skiff kubelet plays its Node and its pods as stages say, by its own rights', {
  skip: withoutKubectl,
}, async () => {
  await using at = await startProcesses()
  // A kubelet may not write a pod's finalizers.
  const { finalizers, ...next } = podStarts.spec.next
  assert.ok(finalizers)
  write(
    at.file('stages.yaml'),
    { ...podStarts, spec: { ...podStarts.spec, next, delay: { durationMilliseconds: 100 } } },
    { ...podIsLetGo, spec: { ...podIsLetGo.spec, delay: { durationMilliseconds: 100 }, next: { delete: true } } },
    nodeStarts,
  )
  const kubeconfig = await at.kubeconfigOf('system:node:n1', 'system:nodes')
  const kubelet = at.start(
    ...['kubelet', '--kubeconfig', kubeconfig, '--hostname-override', 'n1', '--stages', at.file('stages.yaml')],
  )
  await kubelet.until(/is ready/)
  await at.kubectl('wait', '--for=condition=Ready', 'node/n1', '--timeout=30s')
  assert.equal((await at.kubectl.json('get', 'node', 'n1')).status.capacity.cpu, '4')
  await at.kubectl('create', 'serviceaccount', 'default')
  for (const [name, nodeName] of [
    ['ours', 'n1'],
    ['of-others', 'n2'],
  ])
    await at.kubectl.send('create', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { nodeName, automountServiceAccountToken: false, containers: [{ name: 'a', image: 'a' }] },
    })
  await at.kubectl('wait', '--for=jsonpath={.status.phase}=Running', 'pod/ours', '--timeout=30s')
  assert.equal((await at.kubectl.json('get', 'pod', 'of-others')).status.phase, 'Pending')
  await at.kubectl('delete', 'pod', 'ours', '--timeout=30s')
})

test('stages of other kinds than a node may see are refused', { skip: withoutKubectl }, async () => {
  await using at = await startProcesses()
  write(at.file('stages.yaml'), claimIsServed)
  const kubeconfig = await at.kubeconfigOf('system:node:n1', 'system:nodes')
  const kubelet = at.start('kubelet', '--kubeconfig', kubeconfig, '--stages', at.file('stages.yaml'))
  assert.equal(await kubelet.ended, 1)
  assert.match(
    kubelet.said,
    /--stages: claim-is-served is for ConfigMap: a kubelet plays stages of pods and of its Node/,
  )
})
