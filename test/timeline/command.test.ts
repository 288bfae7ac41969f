/** `skiff timeline`: on a cluster in a process of its own, with the real kubectl; forms, names that recur, restarts, rights, hostile text. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { KubeObject } from '../../src/api/object.ts'
import { type Cluster, startCluster } from '../../src/cluster/index.ts'
import type { Timeline, TimelineStep } from '../../src/inspect/timeline/timeline-types.ts'
import { skiff } from '../e2e/cluster.ts'
import { kubectlFor, withoutKubectl } from '../kubectl.ts'
import { definition } from '../twin/stage.ts'

const bin = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))
const dataDir = mkdtempSync(join(tmpdir(), 'skiff-timeline-'))
const [auditPolicy, auditLog] = ['audit.yaml', 'audit.log'].map((name) => join(dataDir, name)) as [string, string]
let cluster: Cluster
before(async () => {
  writeFileSync(
    auditPolicy,
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: RequestResponse}]\n',
  )
  cluster = await startCluster({ dataDir, security: { auditPolicyFile: auditPolicy, auditLogPath: auditLog } })
})
after(async () => {
  await cluster?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Controls but line feeds, and a mark that turns text around. */
const UNSAFE = /[^\P{Cc}\n]|\u202e/u

const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const maps = () => cluster.client.resource(CONFIG_MAPS).namespace('default')
const configMap = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
})

const timeline = (...args: readonly string[]) => skiff('timeline', ...args, '--data-dir', dataDir)

async function told(...args: readonly string[]): Promise<Timeline> {
  const { code, out, err } = await timeline(...args, '-o', 'json')
  assert.equal(code, 0, err)
  return JSON.parse(out)
}

/** A deployment of one pod, made and deleted in the foreground by kubectl. */
async function foreground(name: string): Promise<void> {
  const kubectl = kubectlFor(cluster.kubeconfigFile)
  await kubectl('create', 'deployment', name, '--image=i:1')
  await kubectl('rollout', 'status', `deployment/${name}`, '--timeout=60s')
  await kubectl('delete', 'deployment', name, '--cascade=foreground')
}

const written = ({ steps }: Timeline) =>
  steps.map(
    ({ by, object, changes }) => `${by.component} ${object.resource} ${changes.map(({ type }) => type).join(' ')}`,
  )

const CASCADE = [
  'user deployments marked finalizer-added',
  'generic-garbage-collector replicasets marked finalizer-added',
  'generic-garbage-collector pods marked',
  'kubelet pods grace-shortened',
  'kubelet pods removed',
  'generic-garbage-collector replicasets finalizer-removed removed',
  'generic-garbage-collector deployments finalizer-removed removed',
]

test('a foreground deletion by kubectl, as JSON, text, spans and a picture', { skip: withoutKubectl }, async () => {
  await foreground('a')
  const whole = await told('deploy/a', '--cascade')
  assert.deepEqual(written(whole), CASCADE)
  assert.equal(whole.state, 'gone')
  const [first, ...more] = whole.steps
  assert.match(first?.by.userAgent ?? '', /^kubectl\//)
  assert.match(first?.request.auditId ?? '', /^[0-9a-f-]{36}$/)
  assert.deepEqual(first?.request.options, { propagationPolicy: 'Foreground' })
  for (const [at, step] of more.entries()) {
    assert.equal(step.cause.step, whole.steps[at]?.id)
    assert.equal(step.cause.certainty, 'known')
    assert.ok((step.cause.waitedMs ?? -1) >= 0)
  }
  // Asked about one of its objects it is the same cascade, and without the word the chain of its own steps.
  assert.deepEqual(
    (await told('rs', first?.object.name === 'a' ? (whole.steps[1]?.object.name ?? '') : '', '--cascade')).steps,
    whole.steps,
  )
  assert.deepEqual((await told('deployments.apps/a')).steps, whole.steps)

  const text = await timeline('deploy/a', '--cascade')
  assert.match(text.out, /^deployments\.apps\/a in namespace default: gone, .* from the first step to the last$/m)
  assert.match(
    text.out,
    /^ {12}\+.* deployments\.apps\/a finalizer foregroundDeletion taken off, removed by garbage collector \(known: /m,
  )

  const { out: svg } = await timeline('deploy/a', '--cascade', '-o', 'svg')
  assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" role="img"/)
  assert.equal(svg.match(/<circle/g)?.length, CASCADE.length)
  assert.doesNotMatch(svg, /<script|href|url\(/)

  const { out: otlp } = await timeline('deploy/a', '--cascade', '-o', 'otlp')
  const spans: {
    traceId: string
    spanId: string
    parentSpanId?: string
    startTimeUnixNano: string
    endTimeUnixNano: string
  }[] = JSON.parse(otlp).resourceSpans.flatMap(
    ({ scopeSpans }: { scopeSpans: { spans: object[] }[] }) => scopeSpans[0]?.spans,
  )
  assert.equal(spans.length, CASCADE.length)
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1)
  const ids = new Set(spans.map(({ spanId }) => spanId))
  assert.equal(ids.size, CASCADE.length)
  assert.deepEqual(spans.filter(({ parentSpanId }) => parentSpanId === undefined || !ids.has(parentSpanId)).length, 1)
  for (const span of spans) {
    assert.match(span.traceId, /^[0-9a-f]{32}$/)
    assert.match(span.spanId, /^[0-9a-f]{16}$/)
    assert.ok(BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano))
  }
  assert.equal((await timeline('deploy/a', '--cascade', '-o', 'otlp')).out, otlp)
})

test('of objects that had the same name the last is told, and the others are named', async () => {
  const uids: string[] = []
  for (let i = 0; i < 3; i++) {
    uids.push((await maps().create(configMap('again'))).metadata.uid ?? '')
    await maps().delete('again')
  }
  const last = await told('cm/again')
  assert.equal(last.object.uid, uids[2])
  assert.deepEqual(last.others, uids.slice(0, 2))
  assert.equal((await told('cm/again', '--uid', uids[0] ?? '')).object.uid, uids[0])
  assert.match(
    (await timeline('cm/again')).out,
    new RegExp(`others had this name before: --uid ${uids[0]}, --uid ${uids[1]}`),
  )
})

test('what clients write reaches neither a terminal nor a picture raw', async () => {
  const name = '\u001b[31m<script>alert(1)</script>\u202e'
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name, uid: 'x' }
  const evil = cluster.clientFor(
    { name: `\u001b]0;owned\u0007<b>`, groups: ['system:masters'] },
    `<img src=x>\u001b[2J`,
  )
  const own = evil.resource(CONFIG_MAPS).namespace('default')
  await own.create(configMap('hostile', { finalizers: ['example.com/x'], ownerReferences: [reference] }))
  await own.patch('hostile', 'merge', { metadata: { ownerReferences: null } })
  await own.delete('hostile')
  for (const form of ['text', 'json', 'otlp', 'svg']) {
    const { code, out, err } = await timeline('cm/hostile', '-o', form)
    assert.equal(code, 0, err)
    assert.doesNotMatch(out, UNSAFE, form)
    if (form === 'svg') assert.doesNotMatch(out, /<script|<img|<b>/)
  }
  assert.match((await timeline('cm/hostile')).out, /\\u001b/)
})

test('what cannot be told is one line', async () => {
  for (const [args, said] of [
    [
      ['cm/none'],
      /^skiff: the journal tells nothing of configmaps\/none in namespace default: it has \d+ records, from \S+ on\n$/,
    ],
    [['cm/none', '--uid', 'x\u001b[2J'], /^skiff: the journal tells nothing of [^\n]+\n$/],
    [['nothing/none'], /^skiff: the server serves no kind "nothing": [^\n]+\n$/],
    [['cm'], /^skiff: say KIND\/NAME, as in skiff timeline pod\/web-1[^\n]*\n$/],
    [['cm/../x'], /^skiff: [^\n]+\n$/],
    [['cm/a', '--audit-log', '/none'], /^skiff: --audit-log and --for are of --record[^\n]+\n$/],
    [['cm/a', '--record', '--audit-log', '/none/\u001b[2J'], /^skiff: the audit log cannot be read: [^\n]+\n$/],
    [['cm/a', '--record', '--for', 'soon'], /^skiff: --for: [^\n]+\n$/],
  ] as const) {
    const { code, out, err } = await timeline(...args)
    assert.equal(code, 1, args.join(' '))
    assert.equal(out, '')
    assert.match(err, said)
    assert.doesNotMatch(err, UNSAFE)
  }
})

/** What --record tells of a deployment that is deleted in the foreground meanwhile. */
async function recorded(name: string, ...more: readonly string[]): Promise<Timeline> {
  const args = [
    bin,
    'timeline',
    `deploy/${name}`,
    '--record',
    '--cascade',
    '-o',
    'json',
    '--data-dir',
    dataDir,
    ...more,
  ]
  const kubectl = kubectlFor(cluster.kubeconfigFile)
  await kubectl('create', 'deployment', name, '--image=i:1')
  await kubectl('rollout', 'status', `deployment/${name}`, '--timeout=60s')
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  const code = new Promise((resolve) => child.on('close', resolve))
  await new Promise<void>((resolve) => {
    let err = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
      if (err.includes(`watching namespace default until deploy/${name} has gone`)) resolve()
    })
  })
  await kubectl('delete', 'deployment', name, '--cascade=foreground')
  assert.equal(await code, 0)
  return JSON.parse(out)
}

test('--record with an audit log knows the writers', { skip: withoutKubectl }, async () => {
  const seen = await recorded('audited', '--audit-log', auditLog)
  assert.deepEqual(written(seen), CASCADE)
  for (const { by, request } of seen.steps) {
    // Of a write by which an object goes the log has no revision to know it by: no other write asked for that.
    assert.equal(by.certainty, 'known')
    assert.match(request.auditId ?? '', /^[0-9a-f-]{36}$/)
  }
  assert.match(seen.steps[0]?.by.userAgent ?? '', /^kubectl\//)
  assert.deepEqual(seen.steps[0]?.request.options?.propagationPolicy, 'Foreground')
})

test('--record tells the same of what it watches, with writers inferred, and says what it could not watch', {
  skip: withoutKubectl,
}, async () => {
  const seen = await recorded('seen')
  assert.equal(seen.source, 'recording')
  const kept = await told('deploy/seen', '--cascade')
  const causes = ({ steps }: Timeline) => {
    const at = (step: TimelineStep) => `${step.object.resource} ${step.changes.map(({ type }) => type).join(' ')}`
    const byId = new Map(steps.map((step) => [step.id, step]))
    return steps.map((step) => {
      const led = byId.get(step.cause.step ?? '')
      return `${at(step)} <- ${led === undefined ? 'begins' : at(led)}`
    })
  }
  assert.deepEqual(causes(seen), causes(kept))
  assert.deepEqual(written(seen).slice(1), CASCADE.slice(1))
  for (const { by } of seen.steps) assert.equal(by.certainty, 'inferred')
  const revisions = ({ steps }: Timeline) => steps.map(({ revision }) => revision)
  assert.deepEqual(revisions(seen), revisions(kept))
})

test('--record tells of objects of a definition that was made after it began', { skip: withoutKubectl }, async () => {
  const child = spawn(process.execPath, [bin, 'timeline', '--record', '-o', 'json', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close').then(([code]) => ({ code: code as number | null }))
  const [out, err] = [child.stdout, child.stderr].map((stream) => {
    const chunks: string[] = []
    stream.setEncoding('utf8').on('data', (text: string) => chunks.push(text))
    return () => chunks.join('')
  }) as [() => string, () => string]
  const says = async (text: string) => {
    while (!err().includes(text)) {
      const end = await Promise.race([once(child.stderr, 'data').then(() => undefined), closed])
      if (end !== undefined) assert.ok(err().includes(text), `it ended with ${end.code}, and had said: ${err()}`)
    }
  }
  try {
    await says('watching the whole cluster')
    const kubectl = kubectlFor(cluster.kubeconfigFile)
    await kubectl.send('create', definition({ strategy: 'None' }, 'late.test'))
    await kubectl('wait', '--for=condition=Established', 'crd/shops.late.test', '--timeout=60s')
    await kubectl.send('create', {
      apiVersion: 'late.test/v1',
      kind: 'Shop',
      metadata: { name: 's', namespace: 'default' },
    })
    await says('watching shops.late.test too')
    await kubectl('delete', 'shops.late.test', 's')
    // What comes after the delete it has seen: then it is told to end.
    await kubectl.send('create', definition({ strategy: 'None' }, 'later.test'))
    await says('watching shops.later.test too')
    child.kill('SIGINT')
    assert.deepEqual(await closed, { code: 0 }, err())
  } finally {
    child.kill('SIGKILL')
    await closed
  }
  assert.match(out(), /"resource": ?"shops"/)
})

test('the journal is the same after a restart, and does not travel with snapshots and forks', async () => {
  const journal = async (of: Cluster) => {
    const { status, body } = await of.client.raw('GET', '/skiff.dev/journal')
    assert.equal(status, 200)
    return JSON.parse(body).records as { readonly revision: number; readonly name: string }[]
  }
  await maps().create(configMap('before'))
  await maps().delete('before')
  const before = await journal(cluster)
  assert.ok(before.some(({ name }) => name === 'before'))
  const newest = before.at(-1)?.revision ?? 0
  assert.deepEqual(JSON.parse((await cluster.client.raw('GET', `/skiff.dev/journal?after=${newest}`)).body).records, [])
  assert.equal((await cluster.client.raw('GET', '/skiff.dev/journal?after=x')).status, 400)
  assert.equal((await cluster.client.raw('POST', '/skiff.dev/journal')).status, 405)

  const fork = await cluster.fork()
  const restored = await startCluster({ storage: 'memory', from: cluster.snapshot(), components: ['apiserver'] })
  for (const copy of [fork, restored])
    assert.deepEqual(
      (await journal(copy)).filter(({ name }) => name === 'before'),
      [],
    )
  await restored.stop()
  await fork.stop()

  await cluster.stop()
  cluster = await startCluster({ dataDir })
  assert.deepEqual((await journal(cluster)).slice(0, before.length), before)
  assert.equal((await told('cm/before')).state, 'gone')
})

test('it is told to system:masters alone', async () => {
  const viewer = cluster.clientFor({ name: 'viewer', groups: ['system:authenticated'] })
  assert.equal((await viewer.raw('GET', '/skiff.dev/journal')).status, 403)
  const kubeconfig = await skiff('kubeconfig', '--data-dir', dataDir, '--user', 'viewer', '--groups', 'viewers')
  writeFileSync(join(dataDir, 'viewer'), kubeconfig.out)
  const { code, err } = await skiff('timeline', 'cm/before', '--kubeconfig', join(dataDir, 'viewer'))
  assert.equal(code, 1)
  assert.match(
    err,
    /^skiff: the journal may not be read: [^\n]*User "viewer" cannot (get|use) path "\/skiff\.dev\/journal"[^\n]*skiff timeline --record\)\n$/,
  )
})
