/** The etcd of bin/envtest beside its kube-apiserver: which of the two holds the port, how much memory etcd keeps, and which ends with the other (src/envtest/hand-over.ts). */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect, isIPv4 } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePort } from './components/processes.ts'

const executables = fileURLToPath(new URL('../bin/envtest', import.meta.url))
const skip = process.platform === 'linux' ? false : 'on Linux alone'
const folder = mkdtempSync(join(tmpdir(), 'skiff-hand-over-'))
const started: ChildProcess[] = []
const key = join(folder, 'sa.key')
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))

after(() => {
  for (const child of started) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const start = (name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const child = spawn(join(executables, name), args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  })
  started.push(child)
  return child
}

const etcdAt = (port: number, env?: NodeJS.ProcessEnv) =>
  start(
    'etcd',
    [`--listen-client-urls=http://127.0.0.1:${port}`, `--advertise-client-urls=http://127.0.0.1:${port}`],
    env,
  )

async function kubeApiserverAt(
  etcdPort: number,
  env?: NodeJS.ProcessEnv,
  url = `http://127.0.0.1:${etcdPort}`,
): Promise<ChildProcess> {
  const certDir = mkdtempSync(join(folder, 'certs-'))
  const child = start(
    'kube-apiserver',
    [
      ...[`--etcd-servers=${url}`, `--cert-dir=${certDir}`, '--bind-address=127.0.0.1'],
      ...[`--secure-port=${await freePort()}`, '--authorization-mode=RBAC', '--service-cluster-ip-range=10.0.0.0/24'],
      ...[`--service-account-key-file=${key}`, `--service-account-signing-key-file=${key}`],
      '--service-account-issuer=https://kubernetes.default.svc',
    ],
    env,
  )
  await said(child, 'serving on')
  return child
}

const said = (child: ChildProcess, what: string) =>
  new Promise<void>((resolve, reject) => {
    let text = ''
    child.stderr?.on('data', (chunk) => {
      text += chunk
      if (text.includes(what)) resolve()
    })
    child.on('exit', (code, signal) => reject(new Error(`ended by ${code ?? signal}: ${text}`)))
  })

/** What is answered, or the code of the error where nothing is. */
const health = (port: number, agent?: Agent, host = '127.0.0.1') =>
  new Promise<string | undefined>((resolve) => {
    const asked = get(`http://${host}:${port}/health`, { agent: agent ?? false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => resolve(text))
    })
    asked.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
  })

const answered = async (port: number, path: string, body?: string): Promise<string> =>
  (await fetch(`http://127.0.0.1:${port}${path}`, body === undefined ? {} : { method: 'POST', body })).text()

const CLOSED = 'ECONNREFUSED'
const HEALTHY = '{"health":"true","reason":""}'
const untilHealthy = async (port: number, etcd?: ChildProcess) => {
  while ((await health(port)) !== HEALTHY) assert.equal(etcd?.exitCode ?? null, null, 'etcd has ended')
}

/** The living children of a process. */
function childrenOf({ pid }: ChildProcess): readonly number[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return pids.filter((child) => !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${child}/status`, 'utf8')))
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const residentMib = ({ pid }: ChildProcess): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** Until etcd is a shell alone; whether its port was closed at a time. */
async function untilHandedOver(etcd: ChildProcess, port: number): Promise<boolean> {
  let wasClosed = false
  while (childrenOf(etcd).length > 0) wasClosed = (await health(port)) === CLOSED || wasClosed
  return wasClosed
}

describe('the etcd of envtest and its kube-apiserver', { skip, timeout: 600_000 }, () => {
  test("kube-apiserver takes etcd's port over, and etcd is a shell until it is gone", async (t) => {
    const port = await freePort()
    const etcd = etcdAt(port)
    await untilHealthy(port)
    // A connection that stays, as that of whoever asked for health.
    const agent = new Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    assert.equal(await health(port, agent), HEALTHY)
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      assert.equal(childrenOf(etcd).length, 1)
      const api = await kubeApiserverAt(port)
      assert.equal(await untilHandedOver(etcd, port), false, 'the port was closed')
      assert.match(await answered(port, '/metrics'), /^etcd_server_has_leader 1$/m)
      const key = Buffer.from('/registry/namespaces/default').toString('base64')
      const { kvs } = JSON.parse(await answered(port, '/v3/kv/range', JSON.stringify({ key })))
      assert.deepEqual([kvs.length, kvs[0].key], [1, key])
      assert.equal(await health(port), HEALTHY)
      assert.ok(residentMib(etcd) < 8, `etcd holds ${residentMib(etcd)} MiB`)

      const second = etcdAt(port)
      await said(second, 'address already in use')
      assert.deepEqual(await once(second, 'exit'), [1, null])
      await assert.rejects(kubeApiserverAt(port), /already serves another kube-apiserver/)

      api.kill(signal)
      await once(api, 'exit')
      await untilHealthy(port)
    }
    const api = await kubeApiserverAt(port)
    await untilHandedOver(etcd, port)
    const ends = [once(etcd, 'exit'), once(api, 'exit')]
    etcd.kill('SIGTERM')
    assert.deepEqual(await Promise.all(ends), [
      [null, 'SIGTERM'],
      [1, null],
    ])
    assert.equal(await health(port), CLOSED)
  })

  test('both end when what started etcd is killed, though another started kube-apiserver', async () => {
    const port = await freePort()
    const script = `"$0" --listen-client-urls=http://127.0.0.1:${port} --advertise-client-urls=http://127.0.0.1:${port} & wait`
    const parent = spawn('/bin/sh', ['-c', script, join(executables, 'etcd')], { stdio: 'ignore' })
    started.push(parent)
    await untilHealthy(port)
    const [etcd = 0] = childrenOf(parent)
    const api = await kubeApiserverAt(port)
    await untilHandedOver({ pid: etcd } as ChildProcess, port)
    const ended = once(api, 'exit')
    parent.kill('SIGKILL')
    assert.deepEqual(await ended, [1, null])
    while (isThere(etcd)) await health(port)
    assert.equal(await health(port), CLOSED)
  })

  test('whoever says that the port is handed over, and does not hold it, is sent away', async () => {
    const port = await freePort()
    const etcd = etcdAt(port)
    await untilHealthy(port)
    const liar = connect(port, '127.0.0.1')
    liar.on('error', () => {})
    liar.write('GET /skiff.dev/attach HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: skiff-store\r\n\r\n')
    await once(liar, 'data')
    liar.write('handed-over\n')
    await once(liar, 'close')
    assert.equal(childrenOf(etcd).length, 1)
    assert.equal(await health(port), HEALTHY)
    etcd.kill('SIGTERM')
    assert.deepEqual(await once(etcd, 'exit'), [null, 'SIGTERM'])
  })

  test('where every address is asked for it listens on loopback, as fabric8 kube-api-test starts it', async () => {
    for (const host of ['0.0.0.0', '[::]']) {
      const port = await freePort()
      const url = `http://${host}:${port}`
      const peer = 'http://localhost:1'
      const etcd = start('etcd', [
        ...['-data-dir', mkdtempSync(join(folder, 'data-')), '-wal-dir', mkdtempSync(join(folder, 'wal-'))],
        ...['--listen-client-urls', url, '--advertise-client-urls', url, '--initial-cluster', `default=${peer}`],
        ...['--initial-advertise-peer-urls', peer, '--listen-peer-urls', peer],
      ])
      await untilHealthy(port, etcd)
      const api = await kubeApiserverAt(port, {}, url)
      for (const { address, internal } of Object.values(networkInterfaces()).flatMap((all) => all ?? []))
        if (!internal && isIPv4(address)) assert.equal(await health(port, undefined, address), CLOSED)
      await untilHandedOver(etcd, port)
      assert.equal(await health(port), HEALTHY)
      api.kill('SIGTERM')
      etcd.kill('SIGTERM')
    }
  })

  test('of two that begin at once on one port one has it, each time', async () => {
    for (let times = 0; times < 5; times++) {
      const port = await freePort()
      const both = [etcdAt(port), etcdAt(port)]
      const first = await Promise.race(both.map((child) => once(child, 'exit').then(() => child)))
      assert.equal(first.exitCode, 1)
      await untilHealthy(port)
      const [other] = both.filter((child) => child !== first)
      other?.kill('SIGTERM')
      assert.deepEqual(await once(other as ChildProcess, 'exit'), [null, 'SIGTERM'])
    }
  })

  test('one that is started as soon as the one before it has ended has its port', async () => {
    const port = await freePort()
    const former = etcdAt(port)
    await untilHealthy(port)
    const [node = 0] = childrenOf(former)
    former.kill('SIGTERM')
    await once(former, 'exit')
    const etcd = etcdAt(port)
    const ended = said(etcd, 'nothing is said but when it ends').then(() => '')
    while (isThere(node)) await health(port)
    await Promise.race([ended, untilHealthy(port)])
    etcd.kill('SIGTERM')
    await assert.rejects(ended, { message: 'ended by SIGTERM: ' })
  })
})
