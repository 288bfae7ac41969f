/** skiff plan and skiff twin as commands: forms, gates, exit codes, rights, and that the source is only read. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import { planAs } from '../../src/inspect/plan/report.ts'
import { kubectlPath, withoutKubectl } from '../kubectl.ts'
import { CONFIG_MAPS, configMap, core, DEPLOYMENTS, deployment, NAMESPACES, type Stage, startStage } from './stage.ts'

const skiff = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'plan-command-'))
let stage: Stage
before(async () => {
  stage = await startStage()
  await stage.make(DEPLOYMENTS, deployment('web', 2))
  await stage.make(
    CONFIG_MAPS,
    configMap('held', { annotations: { a: '\u001b[2J<script>' }, finalizers: ['acme.test/cleanup'] }),
  )
  await stage.cluster.clock.advance('10s')
})
after(async () => {
  await stage?.stop()
  rmSync(directory, { recursive: true })
})

const SECRET = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data: { k: 'dg==' } }
interface Meta {
  readonly metadata: { readonly name: string; readonly namespace?: string }
}
const isIn =
  (namespace: string) =>
  ({ metadata }: Meta) =>
    metadata.namespace === namespace
const isNamed =
  (name: string) =>
  ({ metadata }: Meta) =>
    metadata.name === name

/** `skiff twin` of the stage's cluster, in a process of its own. */
async function twinOf(...args: readonly string[]) {
  const child = spawn(process.execPath, [skiff, 'twin', '--from', stage.cluster.kubeconfigFile, ...args])
  const ended = new Promise((resolve) => child.on('close', resolve))
  let out = ''
  const kubeconfig = await new Promise<string>((resolve, reject) => {
    child.on('close', () => reject(new Error(`it ended: ${out}`)))
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text
      const found = /^export KUBECONFIG=(.*)$/m.exec(out)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  const runtime = liveRuntime()
  const { transport } = kubeconfigTransport(runtime, kubeconfig)
  const read = (file: string) => readFileSync(file, 'utf8')
  const { server } = endpointFromKubeconfig(read(kubeconfig), read)
  return {
    kubeconfig,
    server,
    /** Up to where its kubeconfig is. */
    said: out,
    client: createClient(runtime, transport, { userAgent: 'test' }),
    async stop() {
      transport.close()
      child.kill('SIGINT')
      assert.equal(await ended, 0)
    },
  }
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function run(file: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(file, args, { env: { ...process.env, KUBECONFIG: stage.cluster.kubeconfigFile, ...env } })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out, err }))
  })
}
const plan = (...args: readonly string[]) => run(process.execPath, [skiff, 'plan', ...args])

test('each form tells the same, the gates close, and nothing is written', async () => {
  const [name, namespace] = ['used', 'default']
  const resources = { requests: { storage: '1Gi' } }
  await stage.make(core('persistentvolumeclaims'), {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources },
  })
  await stage.make(core('pods'), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      nodeName: 'skiff-1',
      containers: [{ name: 'c', image: 'i:1' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: name } }],
    },
  })
  await stage.cluster.clock.advance('5s')
  const { revision } = stage.cluster.snapshot()
  const tree = await plan('delete', 'deploy/web')
  assert.deepEqual([tree.code, tree.err], [0, ''])
  // What is measured (metrics.k8s.io) is stored nowhere, and nothing to wonder about.
  assert.doesNotMatch(tree.out, /could not be read/)
  assert.match(tree.out, /^delete deploy\/web: 4 objects go, 0 stay marked, 0 are orphaned \(nothing was done\)$/m)
  assert.match(tree.out, /^ {2}deployments\.apps\/web in namespace default: .*\n {4}replicasets.*\n {6}pods/m)
  const json = await plan('delete', 'deploy', 'web', '-o', 'json', '--expect-none', 'po', '--max', '3')
  assert.equal(json.code, 20)
  assert.equal(JSON.parse(json.out).goes.length, 4)
  assert.deepEqual(json.err.trimEnd().split('\n'), [
    'skiff: 2 pods would go, and none may (--expect-none po)',
    'skiff: 4 objects would go, and at most 3 may (--max)',
  ])
  const table = await plan('delete', 'deployments', '--all', '-o', 'table', '--max', '4', '--expect-none', 'cm')
  assert.equal(table.code, 0)
  assert.match(table.out, /^ {2}1 +deployments\.apps\/web in namespace default +\S.* the deed +goes$/m)
  assert.match(planAs('dot', JSON.parse(json.out)), /^digraph plan \{\n.*\n {2}"[^"]+" \[label="deployments\.apps\/web/)
  assert.match(planAs('svg', JSON.parse(json.out)), /^<svg .*\n<title>What comes of delete deploy\/web/)
  const held = await plan('delete', 'cm', '-A', '--all')
  assert.equal(held.code, 21)
  assert.match(held.out, /configmaps\/held in namespace default, held by acme\.test\/cleanup/)
  // What is marked is lost, though it stays for now.
  const marked = await plan('delete', 'pvc', 'used', '--max', '0', '--expect-none', 'pvc')
  assert.deepEqual([marked.code, marked.err.split('\n').length], [20, 3], marked.err)
  assert.equal(stage.cluster.snapshot().revision, revision)
})

test('what is left out on purpose is not taken for absent: Events, and what is measured or stored nowhere', async () => {
  const wanted = [
    ['events', 'events', 'Events are not read'],
    ['events.events.k8s.io', 'events', 'Events are not read'],
    ['cs', 'componentstatuses', 'they are stored nowhere'],
    ['tokenreviews', 'tokenreviews', 'they cannot be listed'],
  ] as const
  for (const [kind, resource, why] of wanted) {
    const ended = await plan('delete', kind, '--all', '--expect-none', kind)
    assert.equal(
      ended.err,
      `skiff: whether any ${resource} would go is not known, and none may (--expect-none ${kind}): ${why}\n`,
    )
    assert.equal(ended.code, 20)
    assert.match(ended.out, new RegExp(`^ {2}${resource}/\\*: what there is could not be read: ${why}$`, 'm'))
  }
})

test('files are taken with the folders in them, and by the labels that they have there', async () => {
  const folder = join(directory, 'app')
  mkdirSync(join(folder, 'inner'), { recursive: true })
  const file = (path: string, object: object) => writeFileSync(join(folder, path), JSON.stringify(object))
  file('web.yaml', {
    ...deployment('web', 2),
    metadata: { name: 'web', namespace: 'default', labels: { tier: 'front' } },
  })
  file('inner/held.json', configMap('held', { labels: { tier: 'back' } }))
  const one = await plan(
    'delete',
    '-R',
    '-f',
    folder,
    '-l',
    'tier=back',
    '--wait=false',
    '--timeout',
    '1m',
    '-o',
    'json',
  )
  assert.equal(one.err, '')
  const told = JSON.parse(one.out)
  assert.deepEqual(
    told.stays.map(({ object }: { object: { name: string } }) => object.name),
    ['held'],
  )
  assert.equal(told.goes.filter(({ certainty }: { certainty: string }) => certainty === 'goes').length, 0)
  const flat = await plan('delete', '-f', folder, '-o', 'json')
  assert.equal(JSON.parse(flat.out).goes.length, 4)
})

test('what was typed wrong is one line', async () => {
  const nothing = join(directory, 'nothing.yaml')
  writeFileSync(nothing, '')
  const hostile = join(directory, 'hostile.yaml')
  writeFileSync(hostile, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "../\\e[2J"}\n')
  const wrong: readonly (readonly [readonly string[], RegExp, number])[] = [
    [['delete'], /say what is to be deleted/, 1],
    [['delete', 'pod'], /say which/, 1],
    [['delete', 'deploy/web/x'], /say TYPE\/NAME/, 1],
    [['delete', 'pod', 'a', '--grace-period', '5', '--force'], /--force/, 1],
    [['delete', 'pod', 'a', '--now', '--grace-period=-5'], /--now/, 1],
    [
      ['delete', '-f', '/nope.yaml'],
      /^skiff: open \/nope\.yaml: no such file or directory: name a file of YAML or JSON/,
      1,
    ],
    [['apply', '-f', '/nope.yaml/a'], /^skiff: open \/nope\.yaml\/a: no such file or directory: name a file/, 1],
    [['uninstall', '/etc/hosts/a'], /^skiff: open \/etc\/hosts\/a: not a directory: name a file/, 1],
    [['delete', '-f', nothing], /there is no object in it/, 1],
    [['delete', '-f', hostile], /no object can have the name "\.\.\/\\\\u001b\[2J"/, 1],
    [['delete', '-k', directory], /kubectl kustomize DIR \| skiff plan delete -f -/, 1],
    [['delete', '--raw', '/api/v1/namespaces/a'], /say TYPE\/NAME/, 1],
    [['delete', 'pod', 'a', '-i'], /a plan deletes nothing/, 1],
    [['delete', '-f', 'https://acme.test/a.yaml'], /curl -fsSL URL \| skiff plan delete -f -/, 1],
    [['delete', '-f', nothing, '--field-selector', 'a=b'], /no --field-selector is given/, 1],
    [['delete', 'pod', '--all', '--field-selector', 'a=b'], /cannot be given together/, 1],
    [['delete', 'pod', 'a', '--as', 'eve'], /unknown option '--as'/, 2],
    [['apply'], /say what is to be applied/, 1],
    [['uninstall'], /missing required argument/, 2],
    [['delete', 'cm', 'a', '--cascade=maybe'], /it is background, foreground or orphan/, 2],
    [['delete', 'pod', 'a', '--force', '--now'], /cannot be given together/, 1],
    [['drain'], /say which/, 1],
    [['delete', 'cm', 'a', '--expect-none', 'shoe'], /serves no kind "shoe"/, 1],
  ]
  for (const [args, message, code] of wrong) {
    const ended = await plan(...args)
    assert.equal(ended.err.trimEnd().split('\n').length, 1, `${args}: ${ended.err}`)
    assert.match(ended.err, message)
    assert.deepEqual([ended.code, ended.out], [code, ''], `${args}`)
  }
})

test('a twin of one namespace, on loopback, whose time stands still, with the values of Secrets', async () => {
  await stage.make(core('secrets'), { ...SECRET, metadata: { name: 'own', namespace: 'default' } })
  await stage.make(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'aside' } })
  await stage.make(CONFIG_MAPS, configMap('hidden', {}, 'aside'))
  for (const [more, value] of [
    [[], undefined],
    [['--secrets'], 'dg=='],
  ] as const) {
    const twin = await twinOf('-n', 'default', '--clock', 'manual', ...more)
    try {
      assert.match(twin.server, /^https:\/\/127\.0\.0\.1:\d+$/)
      const read = async (path: string) => JSON.parse((await twin.client.raw('GET', path)).body)
      assert.equal((await read('/api/v1/namespaces/default/secrets/own')).data?.k, value)
      assert.deepEqual((await read('/api/v1/configmaps')).items.filter(isIn('aside')), [])
      assert.deepEqual((await read('/api/v1/namespaces')).items.filter(isNamed('aside')), [])
      assert.equal((await read('/api/v1/namespaces/default/configmaps/held')).metadata.name, 'held')
      const [first, second] = [await read('/skiff.dev/clock'), await read('/skiff.dev/clock')]
      assert.match(first.time, /^20/)
      assert.equal(first.time, second.time)
      // As it says when it begins.
      const [, directory = ''] =
        /^its time stands still: skiff clock advance 30s --data-dir (\S+) moves it$/m.exec(twin.said) ?? []
      const moved = await run(process.execPath, [skiff, 'clock', 'advance', '30s', '--data-dir', directory])
      assert.deepEqual([moved.code, moved.err], [0, ''])
      assert.equal(Date.parse(moved.out.trim()) - Date.parse(first.time), 30_000)
      assert.match((await run(process.execPath, [skiff, 'status', '--data-dir', directory])).out, /^clock: +manual/m)
    } finally {
      await twin.stop()
    }
  }
})

test('a twin for any client, which ends without a trace', { skip: withoutKubectl }, async () => {
  const twin = await twinOf()
  const { kubeconfig } = twin
  const kubectl = (...args: readonly string[]) => run(kubectlPath, args, { KUBECONFIG: kubeconfig })
  try {
    assert.match((await kubectl('delete', 'deployment', 'web')).out, /"web" deleted/)
    assert.equal((await kubectl('wait', '--for=delete', 'pod', '-l', 'app=web', '--timeout=60s')).code, 0)
    assert.equal((await stage.cluster.client.resource(DEPLOYMENTS).list()).items.length, 1)
    // Its keys are nothing to the source.
    const mixed = await run(kubectlPath, ['get', 'cm', '--server', stage.cluster.url, '--insecure-skip-tls-verify'], {
      KUBECONFIG: kubeconfig,
    })
    assert.notEqual(mixed.code, 0)
  } finally {
    await twin.stop()
  }
  assert.equal(existsSync(dirname(kubeconfig)), false)
})
