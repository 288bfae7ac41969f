/**
 * Three members of etcd and two API servers, and what goes wrong among them: members killed and paused, connections cut, swallowed
 * and delayed. Whatever was answered meanwhile must fit together (history.ts).
 */
import { test } from 'node:test'
import { lacks } from '../machine.ts'
import { pause, play, type Stage } from './fault-stage.ts'

const test3 = (name: string, faults: (stage: Stage) => Promise<void>) =>
  test(name, { skip: lacks.etcd(), timeout: 120_000 }, () => play(faults))

test3('members are killed, one after the other, and come back', async ({ members, workload }) => {
  for (const member of members) {
    await member.kill()
    await workload.progress()
    await member.start()
    await workload.progress()
  }
})

test3('members are paused for longer than an election', async ({ members, workload }) => {
  for (const member of members) {
    member.pause()
    await workload.progress()
    await pause(1500)
    member.resume()
    await workload.progress()
  }
})

test3(
  'connections to etcd are cut, swallowed and delayed in the midst of requests and watches',
  async ({ proxies, workload }) => {
    for (let i = 0; i < 10; i++) {
      for (const proxy of proxies) proxy.cut()
      await workload.progress(20)
    }
    for (const proxy of proxies) {
      proxy.swallow(true)
      await workload.progress()
      await pause(2000)
      proxy.swallow(false)
    }
    for (const proxy of proxies) proxy.delay(true)
    await workload.progress()
    for (const proxy of proxies) proxy.delay(false)
  },
)

test3('the members are without a majority for a while', async ({ members, workload }) => {
  const [first, second] = members
  await Promise.all([first?.kill(), second?.kill()])
  await pause(3000)
  await Promise.all([first?.start(), second?.start()])
  await workload.progress()
})
