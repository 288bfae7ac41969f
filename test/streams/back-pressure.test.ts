/**
 * Of a session whose reader does not read, no more is taken than the sockets on its way hold; nothing waits in the API server's
 * memory. It is shown by what its writer could not write while another session carried as much as the writer has: no time is waited.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { kubectlPath, withoutKubectl } from '../kubectl.ts'
import { type KubeletBehind, PROTOCOLS, type Protocol, speaking, startKubeletBehind } from './kubelet-behind.ts'
import { countedHash, numberedBytes } from './numbered-bytes.ts'

/** What each session carries. */
const BYTES = 80 * 1024 * 1024
/** The buffers of two connections, kubectl's and its pipe's: 8 to 12 MB where it was measured. */
const MOST_ON_THE_WAY = 40 * 1024 * 1024

describe('a session whose reader does not read', { skip: withoutKubectl }, () => {
  let behind: KubeletBehind
  const children: ChildProcess[] = []
  const exec = (by: Protocol, ...words: readonly string[]) => {
    const child = spawn(kubectlPath, ['--kubeconfig', behind.cluster.kubeconfig, 'exec', '-i', 'p', '--', ...words], {
      env: { ...process.env, ...speaking(by) },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.push(child)
    return child
  }

  before(async () => {
    behind = await startKubeletBehind()
  })
  after(async () => {
    for (const child of children) child.kill('SIGKILL')
    await behind?.stop()
  })

  for (const by of PROTOCOLS) {
    test(`by ${by}, the kubelet writes no more than is on its way, and the rest when the client reads`, async () => {
      const before = behind.kubelet.written()
      const unread = exec(by, 'zeros', String(BYTES))
      await once(unread.stdout, 'readable')
      const { bytes: passed } = await countedHash(exec(by, 'zeros', String(BYTES)).stdout)
      assert.equal(passed, BYTES)
      const written = behind.kubelet.written() - before - BYTES
      assert.ok(written > 0 && written < MOST_ON_THE_WAY, `${written} bytes were written that nothing reads`)
      assert.equal((await countedHash(unread.stdout)).bytes, BYTES)
    })

    test(`by ${by}, the client writes no more than is on its way, and the rest when the kubelet reads`, async () => {
      const unread = exec(by, 'deaf')
      const given = numberedBytes(BYTES)
      Readable.from(given).pipe(unread.stdin)
      const heard = exec(by, 'sum')
      const other = numberedBytes(BYTES)
      Readable.from(other).pipe(heard.stdin)
      assert.equal(await text(heard.stdout), other.sum())
      const taken = given.bytes()
      assert.ok(taken > 0 && taken < MOST_ON_THE_WAY, `${taken} bytes were taken that nothing reads`)
      behind.kubelet.letRead()
      assert.equal(await text(unread.stdout), given.sum())
    })
  }
})
