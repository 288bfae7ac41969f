/** A simulated node in a process of its own ends its pods, too, before its machine goes down. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startProcess } from '../components/processes.ts'
import { skiff } from '../e2e/cluster.ts'
import { kubectlFor, withoutKubectl } from '../kubectl.ts'
import { lacks } from '../machine.ts'
import { startLogind } from './stand-in.ts'

test('a simulated node holds the shutdown up until its pods have ended, and is ready again after it', {
  skip: withoutKubectl || lacks.messageBus(),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-down-'))
  const cluster = join(folder, 'cluster')
  const logind = await startLogind(join(folder, 'logind'), 30)
  const started = await skiff('up', '--detach', '--data-dir', cluster, '--port', '0', '--nodes', '0')
  assert.equal(started.code, 0, started.err)
  const kubectl = kubectlFor(join(cluster, 'kubeconfig'))
  const field = (kind: string, name: string, path: string) => kubectl('get', kind, name, '-o', `jsonpath=${path}`)
  const until = async (what: string, look: () => Promise<boolean> | boolean) => {
    for (let left = 300; !(await look()); left--) {
      if (left === 0) throw new Error(`waited in vain: ${what}`)
      await wait(50)
    }
  }
  process.env['DBUS_SYSTEM_BUS_ADDRESS'] = logind.address
  const config = join(folder, 'config.yaml')
  writeFileSync(
    config,
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nhealthzPort: 0\nshutdownGracePeriod: 20s\n',
  )
  const kubelet = startProcess(
    ...['kubelet', '--kubeconfig', join(cluster, 'kubeconfig'), '--hostname-override', 'n1', '--config', config],
    ...['--cert-dir', folder, '--port', '0'],
  )
  try {
    await kubelet.until(/node n1 is ready/)
    await until('its lock', () => logind.calls().some((call) => call.startsWith('Manager Inhibit')))
    const pod = join(folder, 'pod.json')
    const containers = [{ name: 'c', image: 'sim' }]
    writeFileSync(
      pod,
      JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p' }, spec: { nodeName: 'n1', containers } }),
    )
    await kubectl('apply', '-f', pod)
    await until('the pod runs', async () => (await field('pod', 'p', '{.status.phase}')) === 'Running')
    logind.says(true)
    await until('the release', () => logind.calls().includes('released kubelet'))
    await until('its end', async () => (await field('pod', 'p', '{.status.phase}')) === 'Succeeded')
    assert.equal(
      await field('pod', 'p', '{.status.conditions[?(@.type=="DisruptionTarget")].reason}'),
      'TerminationByKubelet',
    )
    const ready = '{.status.conditions[?(@.type=="Ready")].message}'
    assert.equal(await field('node', 'n1', ready), 'node is shutting down')
    logind.says(false)
    await until('the node', async () => (await field('node', 'n1', ready)) === 'kubelet is posting ready status')
  } finally {
    kubelet.child.kill('SIGTERM')
    await kubelet.ended
    await skiff('down', '--data-dir', cluster)
    await logind.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
