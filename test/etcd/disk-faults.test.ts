/** Members of etcd whose disks are slow (strace delays each sync) or full. */
import assert from 'node:assert/strict'
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { openEtcd } from '../../src/storage/etcd/etcd.ts'
import { attachRefused, straceMissing } from '../faults/power.ts'
import { lacks } from '../machine.ts'
import { pause, play } from './fault-stage.ts'
import { type EtcdMember, startEtcd } from './member.ts'
import { startProxy } from './proxy.ts'

const DELAY_US = 100_000
/** Longer than anything waits. */
const HANGS_US = 60_000_000
/** Beside what etcd makes room for in advance (64 MB twice). */
const DISK_MB = 160

test('every sync of a member, then of the majority, takes a tenth of a second longer', {
  skip: lacks.etcd() || (straceMissing() ?? false),
  timeout: 300_000,
}, async () => {
  const syncs = 'fdatasync,fsync'
  const slow = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${syncs}`]
  slow.push('-e', `inject=${syncs}:delay_exit=${DELAY_US}`)
  for (const count of [1, 2])
    await play(async ({ workload }) => workload.progress(60), { under: (member) => (member < count ? slow : []) })
})

/** Resolves when strace says `Process PID attached`. @throws Error with what it says instead, when it ends before */
async function attached(
  { stderr }: Pick<ChildProcessByStdio<null, null, Readable>, 'stderr'>,
  ended: Promise<unknown>,
) {
  let said = ''
  const isSaid = new Promise<'attached'>((resolve) => {
    stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (/ attached\b/.test(said)) resolve('attached')
    })
  })
  if ((await Promise.race([isSaid, ended])) !== 'attached') throw new Error(`strace did not attach: ${said}`)
}

test('strace that may not attach, or ends, says so instead of seeming attached', {
  skip: straceMissing() ?? false,
}, async () => {
  const strace = spawn('strace', ['-o', '/dev/null', '-p', '999999999'], { stdio: ['ignore', 'ignore', 'pipe'] })
  await assert.rejects(attached(strace, once(strace, 'close')), /did not attach: .*\S/s)
})

test('the disk of a member hangs: the others go on without it, also where it leads, and it comes back', {
  skip: lacks.etcd() || (straceMissing() ?? attachRefused() ?? false),
  timeout: 300_000,
}, async () => {
  // One of them is the leader.
  for (const hanging of [0, 1, 2])
    await play(async ({ members, workload }) => {
      const { pid } = members[hanging] as EtcdMember
      const syncs = 'fdatasync,fsync'
      const delay = ['-e', `trace=${syncs}`, '-e', `inject=${syncs}:delay_enter=${HANGS_US}`]
      const strace = spawn('strace', ['-f', '-o', '/dev/null', '-p', String(pid), ...delay], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const ended = once(strace, 'close')
      try {
        await attached(strace, ended)
        await workload.progress(200)
      } finally {
        strace.kill('SIGINT')
        await ended
      }
      await workload.progress(60)
    })
})

test('a member whose disk hangs, and which knows less than the others answered, is taken for no etcd that has lost what it had', {
  skip: lacks.etcd() || (straceMissing() ?? attachRefused() ?? false),
  timeout: 300_000,
}, async () => {
  const etcd = await startEtcd({ size: 3 })
  const [behind, ahead] = etcd.members as [EtcdMember, EtcdMember, EtcdMember]
  const proxy = await startProxy(Number(new URL(ahead.url).port))
  const failures: Error[] = []
  const storage = await openEtcd(liveRuntime({ log: { write: () => {} } }), {
    servers: `http://127.0.0.1:${proxy.port},${behind.url}`,
    compactEveryMs: 0,
    onState: (state) => {
      if (state.type === 'failed') failures.push(state.error)
    },
  })
  /** Until one is done: where the member led, another must first. */
  const put = async (name: string) => {
    for (let i = 0; failures.length === 0; i++) {
      const key = `/registry/${name}-${i}`
      const done = await storage.write({ type: 'put', key, value: Buffer.from('v'), expectRevision: 0 }).catch(() => {})
      if (done?.ok === true) return
    }
  }
  const syncs = 'fdatasync,fsync'
  const delay = ['-e', `trace=${syncs}`, '-e', `inject=${syncs}:delay_enter=${HANGS_US}`]
  const strace = spawn('strace', ['-f', '-o', '/dev/null', '-p', String(behind.pid), ...delay], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(strace, 'close')
  try {
    await attached(strace, ended)
    await put('while it hangs')
    proxy.cut()
    // It is asked now, and by its own watch it is behind.
    await put('at either')
    await storage.fresh()
    assert.deepEqual(failures, [])
  } finally {
    strace.kill('SIGINT')
    await ended
    await storage.close()
    await proxy.stop()
    await etcd.stop()
  }
})

test('the disk of a member is full: the others go on, and with room it comes back', {
  skip: lacks.etcd() || lacks.tmpfs(),
  timeout: 300_000,
}, async () => {
  const disk = mkdtempSync(join(tmpdir(), 'skiff-etcd-full-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', disk])
  const fill = join(disk, 'fill')
  try {
    await play(
      async ({ members: [first], workload }) => {
        assert.ok(first !== undefined)
        // All that is left, to the last block.
        for (let bytes = DISK_MB << 20; bytes >= 4096; )
          try {
            writeFileSync(`${fill}-${bytes}`, Buffer.alloc(bytes))
          } catch {
            bytes /= 2
          }
        // What it has made room for is used up with the next snapshot: then it ends.
        for (let rounds = 0; !first.hasEnded; rounds++) {
          assert.ok(rounds < 50, 'the member never noticed')
          await workload.progress(20)
        }
        await workload.progress(60)
        execFileSync('sh', ['-c', `rm ${fill}-*`])
        await first.start()
        await pause(500)
        await workload.progress(60)
      },
      { args: ['--snapshot-count', '20'], dataDir: (member) => (member === 0 ? join(disk, 'm0') : undefined) },
    )
  } finally {
    execFileSync('umount', ['-l', disk])
    rmSync(disk, { recursive: true, force: true })
  }
})
