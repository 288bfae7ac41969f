/** A gigabyte into a container and out again is never in the API server's memory: what it has at the most hardly grows. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { kubectlPath, withoutKubectl } from '../kubectl.ts'
import { type KubeletBehind, PROTOCOLS, type Protocol, speaking, startKubeletBehind } from './kubelet-behind.ts'
import { countedHash, numberedBytes } from './numbered-bytes.ts'

const MIB = 1024 * 1024
/** The process has its code compiled and its heap grown by then. */
const WARM_UP = 256 * MIB
const BYTES = 1024 * MIB
const MOST_GROWTH_MIB = 64

describe('a session of a gigabyte each way', { skip: withoutKubectl }, () => {
  let behind: KubeletBehind
  before(async () => {
    behind = await startKubeletBehind()
  })
  after(async () => {
    await behind?.stop()
  })

  async function thereAndBack(by: Protocol, count: number): Promise<void> {
    const child = spawn(kubectlPath, ['--kubeconfig', behind.cluster.kubeconfig, 'exec', '-i', 'p', '--', 'cat'], {
      env: { ...process.env, ...speaking(by) },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const given = numberedBytes(count)
    Readable.from(given).pipe(child.stdin)
    assert.deepEqual(await countedHash(child.stdout), { bytes: count, sum: given.sum() })
  }

  for (const by of PROTOCOLS)
    test(`by ${by}, comes back as it went in, and the most memory in use grows by less than ${MOST_GROWTH_MIB} MiB`, async () => {
      const pid = /\d+/.exec(readFileSync(`${behind.cluster.dataDir}/pid`, 'utf8'))?.[0] as string
      forgetPeak(pid)
      await thereAndBack(by, WARM_UP)
      const before = peakMiB(pid)
      forgetPeak(pid)
      await thereAndBack(by, BYTES)
      const growth = peakMiB(pid) - before
      assert.ok(growth < MOST_GROWTH_MIB, `${growth} MiB more than ${before}`)
    })
})

/** The most that the process has had in memory since it was last forgotten, MiB. */
const peakMiB = (pid: string): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

const forgetPeak = (pid: string): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')
