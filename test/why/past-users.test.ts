/** Controllers that nothing in the object tells of are found by the users of past requests: by skiff's journal, and by an audit log. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Fields } from '../../src/api/object.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import { askWhy } from '../../src/inspect/why/ask.ts'
import { configMap, operator, type Stage, startStage } from './stage.ts'

const directory = mkdtempSync(join(tmpdir(), 'why-past-'))
const path = (name: string) => join(directory, name)
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const runtime = liveRuntime()
let stage: Stage
let transport: ReturnType<typeof httpsTransport>
/** As the operator asks. */
let token = ''

before(async () => {
  writeFileSync(
    path('audit.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: RequestResponse, resources: [{group: "", resources: [configmaps]}]}]\n',
  )
  stage = await startStage('--audit-policy-file', path('audit.yaml'), '--audit-log-path', path('audit.log'))
  // Nothing in its names tells that it has to do with the finalizer.
  await operator(stage, 'blue', '', { replicas: 0 })
  const accounts = stage.of({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'blue-system' } })
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} }
  token = (await accounts.create(review, { subresource: 'token', name: 'blue' }))['status'].token
  const read = (file: string) => readFileSync(file, 'utf8')
  const { server, ca = '' } = endpointFromKubeconfig(read(stage.cluster.kubeconfig), read)
  transport = httpsTransport({ server, ca, token })
})
after(async () => {
  transport?.close()
  await stage?.stop()
  rmSync(directory, { recursive: true })
})

const asOperator = () =>
  createClient(runtime, transport, { userAgent: 'manager/v0.0.0 (linux/amd64)' })
    .resource(CONFIG_MAPS)
    .namespace('default')

test('a finalizer that was added later is in the journal, with the account that added it', async () => {
  const object = configMap('default', 'later')
  await stage.make(object)
  await asOperator().patch('later', 'merge', { metadata: { finalizers: ['green.test/x'] } } as never)
  await stage.remove(object)
  const { said } = await stage.why('cm', 'later')
  assert.deepEqual([said['verdict'], said['cause'].kind], ['nobody', 'controller-not-running'])
  assert.match(said['sentence'], /deployments\.apps\/blue .*its account blue-system\/blue added it/)
})

test('one that was there from the beginning is in an audit log', async () => {
  const object = configMap('default', 'first', { finalizers: ['green.test/x'] })
  await asOperator().create(object as never)
  await stage.remove(object)
  const { said } = await stage.why('cm', 'first')
  assert.deepEqual([said['verdict'], said['cause'].kind], ['nobody', 'controller-missing'])
  // What is written to the log comes in the order of the requests.
  await stage.make(configMap('default', 'end-of-the-log'))
  const { kubeconfig } = stage.cluster
  const read = (file: string) => readFileSync(file, 'utf8')
  const asking = httpsTransport(endpointFromKubeconfig(read(kubeconfig), read))
  try {
    const { text } = await askWhy(
      {
        clock: runtime.clock,
        transport: asking,
        userAgent: 'skiff why',
        dryRun: true,
        output: 'json',
        auditLog: read(path('audit.log')),
      },
      { kind: 'cm', name: 'first', namespace: 'default' },
    )
    const told: Fields = JSON.parse(text)
    assert.deepEqual([told['verdict'], told['cause'].kind], ['nobody', 'controller-not-running'])
    assert.match(told['sentence'], /its account blue-system\/blue added it/)
  } finally {
    asking.close()
  }
})
