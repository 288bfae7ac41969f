/** `--audit-log-path -`: events go to standard output, as kube-apiserver's do. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createAsker } from '../conformance/ask.ts'

const POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{ level: Metadata, resources: [{ group: "", resources: [configmaps] }] }]
`
const executable = fileURLToPath(new URL('../bin/skiff.js', import.meta.url))
const namespace = '/api/v1/namespaces/default/configmaps'
const create = (name: string) => ({ m: 'POST', p: namespace, b: JSON.stringify({ metadata: { name } }) })

test('events are lines of standard output; once it is read no more they are lost and counted, and changes go on', {
  timeout: 120_000,
}, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'audit-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const policy = join(directory, 'policy.yaml')
  writeFileSync(policy, POLICY)
  const dataDir = join(directory, 'data')
  const flags = ['--audit-policy-file', policy, '--audit-log-path', '-', '--components', 'apiserver', '--port', '0']
  const child = spawn(process.execPath, [executable, 'up', '--data-dir', dataDir, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const events: { auditID: string; verb: string }[] = []
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => {
    if (line.startsWith('{')) events.push(JSON.parse(line))
  })
  let said = ''
  for await (const chunk of child.stderr) {
    said += chunk
    if (/ready/.test(said)) break
  }
  const asker = createAsker(join(dataDir, 'kubeconfig'))
  t.after(() => asker.close())

  assert.equal((await asker.call({ ...create('a'), h: { 'audit-id': 'mine' } })).code, 201)
  while (!events.some(({ auditID }) => auditID === 'mine')) await once(lines, 'line')
  assert.equal(events.find(({ auditID }) => auditID === 'mine')?.verb, 'create')
  const named = (await asker.call({ m: 'GET', p: `${namespace}/a` })).headers['audit-id']
  while (!events.some(({ auditID }) => auditID === named)) await once(lines, 'line')

  lines.close()
  child.stdout.destroy()
  const lost = /apiserver_audit_error_total\{plugin="log"\} [1-9]/
  let metrics = ''
  for (let i = 0; !lost.test(metrics) && i < 100; i++) {
    assert.equal((await asker.call(create(`c-${i}`))).code, 201)
    metrics = (await asker.call({ m: 'GET', p: '/metrics' })).text
  }
  assert.match(metrics, lost)
  assert.equal((await asker.call({ m: 'GET', p: `${namespace}/a` })).code, 200)
  assert.equal((await asker.call({ m: 'GET', p: '/healthz' })).text, 'ok')
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
})
