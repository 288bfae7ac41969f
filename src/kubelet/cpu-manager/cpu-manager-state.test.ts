/** Files that real kubelets have written. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { cpuStateFile } from './cpu-manager-state.ts'

let directory: string
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'skiff-cpus-'))
})
after(() => rmSync(directory, { recursive: true }))

for (const text of [
  '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}',
  '{"policyName":"static","defaultCpuSet":"0-1","checksum":1636926438}',
  '{"policyName":"static","defaultCpuSet":"0-1,6-11","entries":{"4aec46af-22b7-4e26-babb-d15383ac9151":{"mysqld":"2-3"},"60008d73-6f6f-4467-96c5-cd0a1eeadf23":{"mysqld2":"4-5"}},"checksum":2764424633}',
])
  test(`a kubelet's checkpoint is read, and written as it writes it: ${text.slice(0, 60)}`, () => {
    const path = join(directory, 'cpu_manager_state')
    writeFileSync(path, text)
    const file = cpuStateFile(path, text.includes('static') ? 'static' : 'none')
    const state = file.read()
    assert.ok(state)
    rmSync(path)
    file.write(state)
    const { data, dataChecksum, ...written } = JSON.parse(readFileSync(path, 'utf8'))
    assert.equal(JSON.stringify(written), text)
    assert.deepEqual(file.read(), state)
  })

test('since v1.37 the contents are there as text too, with a checksum of that', () => {
  const path = join(directory, 'v1.37')
  const text =
    '{"policyName":"static","defaultCpuSet":"0,2-8,10-15","entries":{"uid-a":{"c0":"1,9"}},"checksum":835236326,"data":"{\\"policyName\\":\\"static\\",\\"defaultCpuSet\\":\\"0,2-8,10-15\\",\\"entries\\":{\\"uid-a\\":{\\"c0\\":\\"1,9\\"}}}","dataChecksum":3739776197}'
  writeFileSync(path, text)
  const file = cpuStateFile(path, 'static')
  const state = file.read()
  assert.ok(state)
  rmSync(path)
  file.write(state)
  assert.equal(readFileSync(path, 'utf8'), text)
  writeFileSync(path, text.replace('1,9\\"', '1,10\\"'))
  assert.throws(() => file.read(), /checkpoint is corrupted/)
})

test('what was changed, is of another policy or cannot be parsed is refused', () => {
  const path = join(directory, 'other')
  const read = (text: string) => {
    writeFileSync(path, text)
    try {
      cpuStateFile(path, 'static').read()
    } catch (error) {
      return (error as Error).message
    }
    return ''
  }
  const drain = `, please drain this node and delete the CPU manager checkpoint file "${path}" before restarting Kubelet`
  const told = (why: string) => `could not restore state from checkpoint: ${why}${drain}`
  assert.equal(
    read('{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'),
    told('configured policy "static" differs from state checkpoint policy "none"'),
  )
  assert.equal(
    read('{"policyName":"static","defaultCpuSet":"0-2","checksum":1636926438}'),
    told('checkpoint is corrupted'),
  )
  assert.match(read('{'), /^could not restore state from checkpoint: .*JSON/)
})
