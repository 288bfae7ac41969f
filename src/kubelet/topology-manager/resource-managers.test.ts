import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { madeUpTopology } from '../machine/made-up-topology.ts'
import type { Pod } from '../pod.ts'
import { createResourceManagers, OWN_MANAGERS } from './resource-managers.ts'
import { NO_HINTS } from './topology-hints.ts'

const MI = 2 ** 20

const containerOf = (name: string, cpu: string, memory: string) => {
  const amounts = { cpu, memory }
  return { name, resources: { requests: amounts, limits: amounts } }
}

const podOf = (uid: string, containers: readonly object[], initContainers: readonly object[] = []): Pod =>
  ({
    ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name: uid, namespace: 'n', uid } },
    spec: { initContainers, containers },
  }) as Pod

test('what init containers leave stays for their pod while plugins are asked and other pods are restored', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-managers-'))
  after(() => rmSync(directory, { recursive: true }))
  const asked = Promise.withResolvers<void>()
  const devices = {
    hints: () => NO_HINTS,
    podHints: () => NO_HINTS,
    allocate: (_: Pod, { name }: { readonly name: string }) => (name === 'last' ? asked.promise : undefined),
    forget() {},
    forgetUnknown() {},
  }
  const { cpus, memory, admit, restore, forget } = createResourceManagers(
    {
      ...OWN_MANAGERS,
      cpu: { ...OWN_MANAGERS.cpu, policy: 'static', reservedMilli: 1000 },
      memory: { policy: 'Static', reserved: new Map([[0, { memory: MI }]]) },
    },
    madeUpTopology({ sockets: 1, nodesPerSocket: 1, coresPerNode: 4, threads: 1, memory: 5 * MI }),
    { memory: String(MI) },
    directory,
    devices,
    (_, write) => write(),
  )
  const outcome = admit(podOf('a', [containerOf('last', '2', '2Mi')], [containerOf('first', '2', '2Mi')]))
  restore(podOf('b', [containerOf('c', '1', '1Mi')]))
  asked.resolve()
  assert.equal(await outcome, undefined)
  assert.deepEqual([cpus.cpusOf('a', 'first'), cpus.cpusOf('a', 'last'), cpus.cpusOf('b', 'c')], [[1, 2], [1, 2], [3]])
  assert.deepEqual(
    [memory.blocksOf('a', 'first'), memory.blocksOf('a', 'last')].flat().map(({ size }) => size / MI),
    [0, 2],
  )
  forget('a')
  assert.equal(admit(podOf('c', [containerOf('c', '2', '3Mi')])), undefined, 'what it had is free once more')
})
