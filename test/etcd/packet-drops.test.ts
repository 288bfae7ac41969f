/** Packets to members of etcd are dropped by nftables, in a network of the test's own: nothing is said to either side. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { lacks } from '../machine.ts'

const WITH_LOOPBACK = 'ip link set lo up && nft add table inet drops && exec "$@"'

/** Needs root. */
function whyNot(): string | false {
  const { status } = spawnSync('unshare', ['--net', 'sh', '-c', WITH_LOOPBACK, 'sh', 'true'])
  return status === 0 ? false : 'nftables in a network of its own is not to be had here'
}

test('what is sent to a member, to its peers, and to the majority is dropped for a while', {
  skip: lacks.etcd() || lacks.containers() || whyNot(),
  timeout: 300_000,
}, () => {
  const script = join(import.meta.dirname, 'drop-packets.ts')
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', script]
  const run = spawnSync('unshare', ['--net', 'sh', '-c', WITH_LOOPBACK, 'sh', ...node], { encoding: 'utf8' })
  assert.equal(run.status, 0, `${run.stdout}\n${run.stderr}`)
  console.log(run.stdout.trim())
})
