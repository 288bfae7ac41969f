import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evictionConfig } from '../kubelet/eviction/thresholds.ts'
import { settingsOfNodes } from './node-options.ts'

test('nodes of real containers keep a twentieth of their disks, or what they are told to; simulated ones evict nothing', () => {
  const evictionOf = (evictionHard?: string) =>
    settingsOfNodes({
      dataDir: 'd',
      containerRuntime: 'cri',
      ...(evictionHard === undefined ? {} : { eviction: { evictionHard, evictionMaxPodGracePeriod: 7 } }),
    }).eviction
  const disks = evictionConfig(evictionOf()).thresholds.filter(({ signal }) => /^(node|image)fs/.test(signal))
  assert.deepEqual(
    disks.map(({ amount }) => amount),
    Array.from({ length: 4 }, () => ({ share: Math.fround(0.05) })),
  )
  assert.deepEqual(evictionOf('memory.available<1Gi'), {
    evictionHard: 'memory.available<1Gi',
    evictionMaxPodGracePeriod: 7,
  })
  assert.equal(settingsOfNodes({ dataDir: 'd' }).eviction, undefined)
})
