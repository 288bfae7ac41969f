/** API servers over three members of etcd that are killed with -9 and stopped, as processes, amid requests and watches. */
import { test } from 'node:test'
import type { ServerProcess } from '../history/server-process.ts'
import { lacks } from '../machine.ts'
import { pause, play, type Stage } from './fault-stage.ts'
import type { EtcdMember } from './member.ts'

const apart = (name: string, faults: (stage: Stage) => Promise<void>) =>
  test(name, { skip: lacks.etcd(), timeout: 300_000 }, () => play(faults, { apart: true }))

apart('each API server is killed in turn, and comes back', async ({ servers, workload }) => {
  for (const server of servers) {
    await server.kill()
    await workload.progress(30)
    await server.start()
    await workload.progress(30)
  }
})

apart('each API server is stopped for a while, and wakes with what it knew', async ({ servers, workload }) => {
  for (const server of servers) {
    server.process.child.kill('SIGSTOP')
    await pause(1500)
    server.process.child.kill('SIGCONT')
    await workload.progress(30)
  }
})

apart('an API server and a member of etcd are killed in the same moment', async ({ servers, members, workload }) => {
  const [server] = servers as readonly [ServerProcess]
  const [member] = members as readonly [EtcdMember]
  await Promise.all([member.kill(), server.kill()])
  await workload.progress(30)
  await Promise.all([member.start(), server.start()])
  await workload.progress(30)
})
