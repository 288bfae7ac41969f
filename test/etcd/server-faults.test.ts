/** API servers over three members of etcd that are killed with -9 and stopped, as processes, amid requests and watches. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lacks } from '../machine.ts'
import { pause, play, progress, type ServerProcess, type Stage } from './fault-stage.ts'
import type { EtcdMember } from './member.ts'

const apart = (name: string, faults: (stage: Stage) => Promise<void>) =>
  test(name, { skip: lacks.etcd(), timeout: 300_000 }, () => play(faults, { apart: true }))

apart('each API server is killed in turn, and comes back', async ({ servers, workload }) => {
  for (const server of servers) {
    server.process.child.kill('SIGKILL')
    assert.equal(await server.process.ended, null)
    await progress(workload, 30)
    await server.start()
    await progress(workload, 30)
  }
})

apart('each API server is stopped for a while, and wakes with what it knew', async ({ servers, workload }) => {
  for (const server of servers) {
    server.process.child.kill('SIGSTOP')
    await pause(1500)
    server.process.child.kill('SIGCONT')
    await progress(workload, 30)
  }
})

apart('an API server and a member of etcd are killed in the same moment', async ({ servers, members, workload }) => {
  const [server] = servers as readonly [ServerProcess]
  const [member] = members as readonly [EtcdMember]
  server.process.child.kill('SIGKILL')
  await Promise.all([member.kill(), server.process.ended])
  await progress(workload, 30)
  await Promise.all([member.start(), server.start()])
  await progress(workload, 30)
})
