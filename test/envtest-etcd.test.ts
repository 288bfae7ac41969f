/** The port of the etcd of bin/envtest, by Debian's etcdctl: what kube-apiserver stores is read and watched there, and ends with either. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from './components/processes.ts'
import { lacks } from './machine.ts'

const skiff = fileURLToPath(new URL('../bin/skiff.js', import.meta.url))
const run = promisify(execFile)
const hasClient = spawnSync('etcdctl', ['version']).status === 0
const skip = lacks.etcd() || (hasClient ? false : 'etcdctl is not installed here (Debian: etcd-client)')

describe("etcd's port of envtest", { skip, timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-envtest-etcd-'))
  const started: ChildProcess[] = []
  let url = ''
  let server = ''
  after(() => {
    for (const child of started) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  const start = (name: string, args: readonly string[]) => {
    const child = spawn(process.execPath, [skiff, 'run-as', name, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    started.push(child)
    return child
  }
  const etcdctl = (...args: readonly string[]) =>
    run('etcdctl', args, { env: { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: url } })
  /** As the administrator, whose token stands in a file. */
  const ask = async (method: string, path: string, body?: object) => {
    const args = ['-ks', '-X', method, '-H', 'Authorization: Bearer admin', '-H', 'Content-Type: application/json']
    const { stdout } = await run('curl', [...args, ...(body ? ['-d', JSON.stringify(body)] : []), server + path])
    return stdout
  }

  before(async () => {
    const [etcdPort, port] = [await freePort(), await freePort()]
    url = `127.0.0.1:${etcdPort}`
    server = `https://127.0.0.1:${port}`
    const tokens = join(folder, 'tokens')
    writeFileSync(tokens, 'admin,admin,1,"system:masters"\n')
    const key = join(folder, 'sa.key')
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    start('etcd', [`--listen-client-urls=http://${url}`, `--advertise-client-urls=http://${url}`])
    const api = start('kube-apiserver', [
      ...[`--etcd-servers=http://${url}`, `--cert-dir=${folder}`, '--bind-address=127.0.0.1', `--secure-port=${port}`],
      ...[`--token-auth-file=${tokens}`, '--authorization-mode=RBAC', '--service-cluster-ip-range=10.0.0.0/24'],
      ...[`--service-account-key-file=${key}`, `--service-account-signing-key-file=${key}`],
      ...['--service-account-issuer=https://kubernetes.default.svc', '--disable-admission-plugins=ServiceAccount'],
    ])
    await new Promise<void>((resolve, reject) => {
      let text = ''
      api.stderr?.on('data', (chunk) => {
        text += chunk
        if (text.includes('serving on')) resolve()
      })
      api.on('exit', () => reject(new Error(text)))
    })
  })

  const pod = (name: string) => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
    spec: { containers: [{ name: 'c', image: 'busybox' }] },
  })
  const pods = '/api/v1/namespaces/default/pods'

  test('etcdctl get shows the object as Kubernetes names it', async () => {
    assert.match(await ask('POST', pods, pod('b2')), /"phase":\s*"Pending"/)
    const { stdout } = await etcdctl('get', '/registry/pods/default/b2', '--prefix')
    const [key, value] = stdout.split('\n')
    assert.equal(key, '/registry/pods/default/b2')
    assert.equal(JSON.parse(value ?? '').metadata.name, 'b2')
    assert.match((await etcdctl('endpoint', 'status')).stdout, /3\.7\.3/)
    assert.match((await etcdctl('endpoint', 'health')).stderr, /is healthy/)
  })

  test('etcdctl watch tells of what comes', async () => {
    const watch = spawn('etcdctl', ['watch', '/registry/pods/', '--prefix', '--rev', '1'], {
      env: { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: url },
    })
    started.push(watch)
    const lines: string[] = []
    const told = (async () => {
      for await (const chunk of watch.stdout) {
        lines.push(...String(chunk).split('\n'))
        if (lines.includes('DELETE')) return
      }
    })()
    await ask('DELETE', `${pods}/b2`)
    await told
    watch.kill()
    assert.ok(lines.includes('PUT') && lines.includes('/registry/pods/default/b2'), lines.join('\n'))
  })

  test('what would change something is refused in one line', async () => {
    for (const args of [
      ['put', '/registry/x', 'y'],
      ['del', '/registry/', '--prefix'],
      ['lease', 'grant', '5'],
    ])
      await assert.rejects(etcdctl(...args), /takes no writes here: write through kube-apiserver/)
    await assert.rejects(etcdctl('snapshot', 'save', join(folder, 'db')), /skiff does not do this in place of etcd/)
    assert.equal((await etcdctl('get', '/registry/x')).stdout, '')
  })

  test('health is answered beside it, and a client ends with kube-apiserver', async () => {
    assert.equal((await run('curl', ['-s', `http://${url}/health`])).stdout, '{"health":"true","reason":""}')
    const watch = spawn('etcdctl', ['watch', '/registry/', '--prefix', '--rev', '1'], {
      env: { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: url },
    })
    started.push(watch)
    await once(watch.stdout, 'data')
    const ended = once(started[1] as ChildProcess, 'exit')
    started[1]?.kill('SIGKILL')
    await ended
    await assert.rejects(etcdctl('--command-timeout', '1s', '--dial-timeout', '1s', 'get', '/registry/x'))
    assert.equal((await run('curl', ['-s', `http://${url}/health`])).stdout, '{"health":"true","reason":""}')
  })
})
