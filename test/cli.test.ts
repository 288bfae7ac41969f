/** The skiff command as a user meets it: a process of its own, a directory of its own, a free port. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import { createHttpsClient, type HttpsEndpoint } from '../src/http/client.ts'

const bin = fileURLToPath(new URL('../bin/skiff.js', import.meta.url))

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

const start = (...args: string[]) => startWith('ignore', ...args)

function startWith(
  input: 'ignore' | 'pipe',
  ...args: string[]
): {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  said(text: string): Promise<void>
} {
  const child = spawn(process.execPath, [bin, ...args], { stdio: [input, 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  const heard = new Set<() => void>()
  child.stdout?.on('data', (chunk) => {
    out += chunk
    for (const listener of heard) listener()
  })
  child.stderr?.on('data', (chunk) => {
    err += chunk
  })
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, out, err })))
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const listener = () => {
        if (!out.includes(text)) return
        heard.delete(listener)
        resolve()
      }
      heard.add(listener)
      void ended.then(() => reject(new Error(`it ended without saying ${JSON.stringify(text)}: ${out}${err}`)))
      listener()
    })
  return { child, ended, said }
}

const skiff = (...args: string[]): Promise<Ended> => start(...args).ended

/** A directory whose cluster, if one runs, is stopped at the end. */
function temporary() {
  const path = mkdtempSync(join(tmpdir(), 'skiff-cli-'))
  return {
    path,
    async [Symbol.asyncDispose]() {
      await skiff('down', '--data-dir', path)
      rmSync(path, { recursive: true, force: true })
    },
  }
}

const alone = (path: string, ...more: string[]) => [
  'up',
  '--data-dir',
  path,
  '--port',
  '0',
  '--components',
  'apiserver',
  ...more,
]

function oneLine({ err }: Ended): string {
  assert.match(err, /^skiff: [^\n]+\n$/, `one line on stderr, not ${JSON.stringify(err)}`)
  return err
}

/** A connection that has sent its head and promised a body that does not come. */
async function halfARequest({ server, ca, cert, key }: HttpsEndpoint): Promise<TLSSocket> {
  const { hostname, port } = new URL(server)
  const socket = connect({ host: hostname, port: Number(port), ca, cert, key, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  socket.on('error', () => {})
  const head =
    'POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
  socket.write(`${head}content-length: 100\r\n\r\n{`)
  return socket
}

async function request(path: string, method: string, url: string, body?: object) {
  const client = createHttpsClient(endpointFromKubeconfig(readFileSync(join(path, 'kubeconfig'), 'utf8')))
  try {
    const headers = { 'content-type': 'application/json' }
    const answer = await client.send({ method, path: url, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    return { status: answer.status, body: Buffer.from(await answer.bytes()).toString() }
  } finally {
    client.close()
  }
}

test('what is wrong with the command line is one line, and exit 2', async () => {
  const wrong = [
    ['up', '--bogus'],
    ['up', '--port', '70000'],
    ['up', '--port', 'x'],
    ['up', '--nodes', '-1'],
    ['up', '--components', 'apiserver,bogus'],
    ['up', '--components', 'scheduler'],
    ['up', '--authorization-mode', 'Node,Bogus'],
    ['up', '--authorization-mode', 'RBAC,RBAC'],
    ['up', '--authorization-mode', 'RBAC', '--authorization-config', 'file'],
    ['up', '--oidc-required-claim', 'bogus'],
    ['up', '--oidc-client-id', 'x', '--authentication-config', 'file'],
    ['up', '--eviction-max-pod-grace-period', 'x'],
    ['up', '--eviction-pressure-transition-period', '-5m'],
    ['up', 'something'],
    ['bogus'],
  ]
  await Promise.all(
    wrong.map(async (args) => {
      const ended = await skiff(...args)
      assert.equal(ended.code, 2, args.join(' '))
      oneLine(ended)
    }),
  )
})

test('what is wrong in a file or in flags that belong together is one line, exit 1, and nothing is left running', async () => {
  await using directory = temporary()
  const file = join(directory.path, 'file')
  writeFileSync(
    file,
    'kind: AuthenticationConfiguration\napiVersion: apiserver.config.k8s.io/v1\njwt: [{issuer: {}}]\n',
  )
  const cases: readonly (readonly [RegExp, ...string[]])[] = [
    [
      /invalid authentication configuration: \[jwt\[0\]\.issuer\.url: Required value, /,
      '--authentication-config',
      file,
    ],
    [/open .*nothing: no such file or directory/, '--authorization-config', join(directory.path, 'nothing')],
    [/oidc-issuer-url and oidc-client-id must be specified together/, '--oidc-client-id', 'x'],
    [/simulated nodes evict no pods/, '--eviction-hard', 'memory.available<1Gi'],
    [/authorization config file not passed/, '--authorization-mode', 'Webhook'],
    [/authorization policy file not passed/, '--authorization-mode', 'ABAC'],
    [/cannot specify --authorization-policy-file without mode ABAC/, '--authorization-policy-file', '/none'],
    [/error loading config file .*file/, '--authentication-token-webhook-config-file', file],
  ]
  await Promise.all(
    cases.map(async ([why, ...args], i) => {
      const ended = await skiff(...alone(join(directory.path, String(i))), ...args)
      assert.equal(ended.code, 1, args.join(' '))
      assert.match(oneLine(ended), why)
    }),
  )
})

test('version and help', async () => {
  const [version, help] = await Promise.all([skiff('version'), skiff('--help')])
  assert.match(version.out, /Kubernetes v1\.37\.1\+skiff/)
  assert.equal(help.code, 0)
  for (const command of ['up', 'down', 'status', 'kubeconfig', 'version']) assert.ok(help.out.includes(`  ${command}`))
})

test('what is unknown is told with what may have been meant, or where one finds it', async () => {
  const [near, far] = await Promise.all([skiff('up', '--prot', '1'), skiff('bogus')])
  assert.equal(oneLine(near), "skiff: unknown option '--prot': did you mean --port?\n")
  assert.equal(oneLine(far), "skiff: unknown command 'bogus': see --help\n")
})

test('status of a directory in which nothing runs says what skiff up does there', async () => {
  await using directory = temporary()
  const { code, out } = await skiff('status', '--data-dir', directory.path)
  assert.equal(code, 1)
  assert.equal(out, `no cluster runs in ${directory.path}: skiff up starts one\n`)
})

test('a directory that cannot be written and a port in use are told in one line', async () => {
  await using directory = temporary()
  const file = join(directory.path, 'file')
  writeFileSync(file, '')
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  const [unwritable, inUse] = await Promise.all([
    skiff(...alone(join(file, 'x'))),
    skiff('up', '--data-dir', join(directory.path, 'd'), '--components', 'apiserver', '--port', String(port)),
  ])
  server.close()
  assert.equal(unwritable.code, 1)
  assert.match(oneLine(unwritable), /cannot write to/)
  assert.equal(inUse.code, 1)
  assert.match(oneLine(inUse), /port \d+ of 127\.0\.0\.1 is in use/)
})

test('detached: up, status, kubeconfig, a second up, down, and up again with all its objects', async () => {
  await using directory = temporary()
  const { path } = directory
  const first = await skiff(...alone(path, '--detach'))
  assert.equal(first.code, 0, first.err)
  assert.match(first.out, /ready in \d+ ms at https:\/\/127\.0\.0\.1:\d+\n/)
  assert.ok(first.out.endsWith(`export KUBECONFIG=${join(path, 'kubeconfig')}\n`))
  assert.deepEqual(readdirSync(path).sort(), ['kubeconfig', 'log', 'pid', 'pki', 'state.json', 'store'])
  for (const name of ['kubeconfig', 'pki/ca.key']) assert.equal(statSync(join(path, name)).mode & 0o777, 0o600, name)

  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'hostile' } }
  const spec = { holderIdentity: 'me\u001b]0;owned\u0007\nready: no' }
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
  assert.equal((await request(path, 'POST', leases, { ...lease, spec })).status, 201)
  const status = await skiff('status', '--data-dir', path)
  assert.equal(status.code, 0, status.out)
  assert.match(status.out, /^ready: +yes$/m)
  assert.match(status.out, /^store: +lmdb, \d+\.\d MiB, revision \d+$/m)
  assert.match(status.out, /^leader: +hostile: me\\u001b\]0;owned\\u0007 ready: no/m)
  const pid = readFileSync(join(path, 'pid'), 'utf8').split('\n')[0]
  assert.match(status.out, new RegExp(`^pid: +${pid}$`, 'm'))
  const printed = await skiff('kubeconfig', '--data-dir', path)
  assert.equal(printed.out, readFileSync(join(path, 'kubeconfig'), 'utf8'))

  const second = await skiff(...alone(path))
  assert.equal(second.code, 1)
  assert.ok(oneLine(second).includes(`pid ${pid}`))
  const secondDetached = await skiff(...alone(path, '--detach'))
  assert.equal(secondDetached.code, 1)
  assert.ok(oneLine(secondDetached).includes(`pid ${pid}`))

  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' } }
  assert.equal((await request(path, 'POST', '/api/v1/namespaces/default/configmaps', object)).status, 201)

  const down = await skiff('down', '--data-dir', path)
  assert.equal(down.code, 0)
  assert.ok(down.out.includes(`stopped pid ${pid}`))
  assert.equal(existsSync(join(path, 'pid')), false)
  const stopped = await skiff('status', '--data-dir', path)
  assert.equal(stopped.code, 1)
  assert.match((await skiff('down', '--data-dir', path)).out, /no cluster runs/)

  assert.equal((await skiff(...alone(path, '--detach'))).code, 0)
  assert.equal((await request(path, 'GET', '/api/v1/namespaces/default/configmaps/kept')).status, 200)
})

test('after kill -9 the next up takes the directory over, objects and all', async () => {
  await using directory = temporary()
  const { path } = directory
  assert.equal((await skiff(...alone(path, '--detach'))).code, 0)
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' } }
  assert.equal((await request(path, 'POST', '/api/v1/namespaces/default/configmaps', object)).status, 201)
  process.kill(Number(readFileSync(join(path, 'pid'), 'utf8').split('\n')[0]), 'SIGKILL')
  const again = await skiff(...alone(path, '--detach'))
  assert.equal(again.code, 0, again.err)
  assert.equal((await request(path, 'GET', '/api/v1/namespaces/default/configmaps/kept')).status, 200)
})

test('with all components: plain progress lines, a Ready node, its own debug port, and ready in a second or so', async () => {
  await using directory = temporary()
  const { path } = directory
  const { child, ended, said } = start('up', '--data-dir', path, '--port', '0', '--nodes', '2')
  await said('export KUBECONFIG=')
  const status = await skiff('status', '--data-dir', path)
  assert.equal(status.code, 0, status.out)
  assert.match(status.out, /^nodes: +2 of 2 ready, simulated$/m)
  assert.match(status.out, /^debug: +https:\/\/127\.0\.0\.1:\d+$/m)
  assert.match(status.out, /^components: +apiserver, controllers, scheduler, kubelet, storage$/m)
  const { items } = JSON.parse((await request(path, 'GET', '/api/v1/nodes')).body)
  assert.deepEqual(
    items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ['skiff-1', 'skiff-2'],
  )
  const { capacity } = items[0].status
  assert.deepEqual([capacity.cpu, capacity.memory, capacity.pods], ['32', '256Gi', '2k'])
  child.kill('SIGINT')
  const { code, out, err } = await ended
  assert.equal(code, 0, err)
  assert.match(
    out,
    /^making keys and certificates\nopening the store\nstarting the API server\nstarting the controllers\n/,
  )
  assert.match(out, /^2 nodes, simulated: pods run no real containers$/m)
  assert.ok(!out.includes('\r'), 'no terminal, no rewriting of lines')
  assert.equal(err, '')
})

test('test-server answers behind a Ctrl-C of the terminal, which is for the tests that started it, and ends by SIGTERM', async (t) => {
  const { child, ended, said } = startWith('pipe', 'test-server', '--components', 'apiserver')
  t.after(() => child.kill('SIGKILL'))
  await said('"ready"')
  child.kill('SIGINT')
  child.stdin?.write('{"id": 1, "method": "report"}\n')
  await said('"id":1,"result"')
  child.kill('SIGTERM')
  const { code, err } = await ended
  assert.equal(code, 0, err)
})

test('a second signal ends it at once, though a request is still under way', async () => {
  await using directory = temporary()
  const { path } = directory
  const { child, ended, said } = start(...alone(path))
  await said('export KUBECONFIG=')
  const endpoint = endpointFromKubeconfig(readFileSync(join(path, 'kubeconfig'), 'utf8'))
  const stuck = await halfARequest(endpoint)
  child.kill('SIGTERM')
  await said('stopping')
  // One Ctrl-C can arrive twice within a moment; what comes later is meant. When that is, the process knows.
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  while (!isOver) {
    child.kill('SIGTERM')
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { code, out } = await ended
  assert.equal(code, 143)
  assert.doesNotMatch(out, /^stopped/m, 'it waited for the request')
  stuck.destroy()
  assert.equal((await skiff(...alone(path, '--detach'))).code, 0, 'the next start takes the directory over')
})

test('in the foreground: SIGTERM ends watches and exits 0', async () => {
  await using directory = temporary()
  const { path } = directory
  const { child, ended, said } = start(...alone(path))
  await said('export KUBECONFIG=')
  const watch = request(path, 'GET', '/api/v1/namespaces?watch=true')
  assert.equal((await request(path, 'GET', '/readyz')).body, 'ok')
  child.kill('SIGTERM')
  assert.equal((await watch).status, 200)
  const { code, out } = await ended
  assert.equal(code, 0)
  assert.ok(out.endsWith(`stopping\nstopped; its objects stay in ${path}\n`), out)
  assert.equal(existsSync(join(path, 'pid')), false)
})

test('a cluster outlives whoever read what it says', async () => {
  await using directory = temporary()
  const { path } = directory
  const { child, ended } = start(...alone(path))
  child.stdout?.once('data', () => child.stdout?.destroy())
  const ready = async () => (await skiff('status', '--data-dir', path)).code === 0
  while (!(await ready())) assert.equal(child.exitCode, null)
  child.kill('SIGTERM')
  assert.deepEqual(await ended.then(({ code, err }) => [code, err]), [0, ''])
})

test('a corrupt store is told in one line and left as it is', async () => {
  await using directory = temporary()
  const { path } = directory
  assert.equal((await skiff(...alone(path, '--detach'))).code, 0)
  await skiff('down', '--data-dir', path)
  const store = join(path, 'store')
  const garbage = Buffer.alloc(8192, 'not a database')
  for (const name of readdirSync(store)) if (name.startsWith('data')) writeFileSync(join(store, name), garbage)
  const ended = await skiff(...alone(path))
  assert.equal(ended.code, 1)
  oneLine(ended)
  for (const name of readdirSync(store)) {
    if (name.startsWith('data')) assert.deepEqual(readFileSync(join(store, name)), garbage)
  }
})

test('--kubeconfig adds the cluster to a file that holds others', async () => {
  await using directory = temporary()
  mkdirSync(join(directory.path, 'd'))
  const file = join(directory.path, 'config')
  writeFileSync(
    file,
    'apiVersion: v1\nkind: Config\nclusters:\n- name: other\n  cluster: {server: https://else}\nusers: []\n',
  )
  await using cluster = {
    path: join(directory.path, 'd'),
    [Symbol.asyncDispose]: async () => {
      await skiff('down', '--data-dir', join(directory.path, 'd'))
    },
  }
  const ended = await skiff(...alone(cluster.path, '--detach', '--kubeconfig', file))
  assert.equal(ended.code, 0, ended.err)
  const text = readFileSync(file, 'utf8')
  assert.match(text, /name: other/)
  assert.match(endpointFromKubeconfig(text).server, /^https:\/\/127\.0\.0\.1:/)
})
