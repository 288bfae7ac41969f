/**
 * node bench/envtest-start.ts [--times 20] [--assets FOLDER]: how long a control plane takes to be up as controller-runtime's envtest
 * starts it, and what its two processes hold then; with another folder beside ours, both in turns.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as plain } from 'node:http'
import { request as secure } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { liveRuntime } from '../src/base/live-runtime.ts'
import { issue } from '../src/cluster/certificate.ts'

/** As envtest asks for health. */
const POLL_MS = 100

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const { values } = parseArgs({ options: { times: { type: 'string', default: '20' }, assets: { type: 'string' } } })
const skiff = fileURLToPath(new URL('../bin/skiff.js', import.meta.url))
const own = execFileSync(process.execPath, [skiff, 'envtest', 'path'], { encoding: 'utf8' }).trim()
const subjects = new Map([['skiff', own], ...(values.assets === undefined ? [] : [['other', values.assets] as const])])
const found = new Map([...subjects.keys()].map((name) => [name, { ms: [] as number[], bytes: [] as number[] }]))
for (let round = 0; round < Number(values.times); round++)
  for (const [name, folder] of subjects) {
    const { ms, bytes } = await startOnce(folder)
    found.get(name)?.ms.push(ms)
    found.get(name)?.bytes.push(bytes)
  }
for (const [name, { ms, bytes }] of found)
  console.log(
    `${name}: up after ${median(ms).toFixed(0)} ms in the median of ${ms.length}, ${(median(bytes) / 2 ** 20).toFixed(0)} MiB resident`,
  )

async function startOnce(assets: string): Promise<{ readonly ms: number; readonly bytes: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-bench-envtest-'))
  const [clientPort, peerPort, port] = [await freePort(), await freePort(), await freePort()]
  const ca = issue(liveRuntime(), { commonName: 'envtest', usage: 'ca', validDays: 7 })
  const serving = issue(
    liveRuntime(),
    { commonName: 'apiserver', usage: 'server', hosts: ['localhost', '127.0.0.1'], validDays: 7 },
    ca,
  )
  for (const [name, text] of Object.entries({
    'apiserver.crt': serving.cert,
    'apiserver.key': serving.key,
    'sa-signer.crt': ca.cert,
    'sa-signer.key': ca.key,
    'client-cert-auth-ca.crt': ca.cert,
  }))
    writeFileSync(join(folder, name), text, { mode: 0o600 })
  const children: ChildProcess[] = []
  const run = (name: string, args: readonly string[]) => {
    const child = spawn(join(assets, name), args, { stdio: 'ignore', detached: true })
    children.push(child)
    return child
  }
  const began = performance.now()
  try {
    execFileSync(join(assets, 'etcd'), ['--help'], { stdio: 'ignore' })
    run('etcd', [
      ...[`--advertise-client-urls=http://127.0.0.1:${clientPort}`, `--data-dir=${join(folder, 'etcd')}`],
      ...[`--listen-client-urls=http://127.0.0.1:${clientPort}`, `--listen-peer-urls=http://127.0.0.1:${peerPort}`],
      '--unsafe-no-fsync=true',
    ])
    await untilHealthy(`http://127.0.0.1:${clientPort}/health`)
    execFileSync(join(assets, 'kube-apiserver'), ['--help'], { stdio: 'ignore' })
    run('kube-apiserver', [
      ...['--allow-privileged=true', '--authorization-mode=RBAC', '--bind-address=127.0.0.1', `--cert-dir=${folder}`],
      ...[`--client-ca-file=${join(folder, 'client-cert-auth-ca.crt')}`, '--disable-admission-plugins=ServiceAccount'],
      ...[`--etcd-servers=http://127.0.0.1:${clientPort}`, `--secure-port=${port}`],
      ...[`--service-account-issuer=https://127.0.0.1:${port}/`, '--service-cluster-ip-range=10.0.0.0/24'],
      `--service-account-key-file=${join(folder, 'sa-signer.crt')}`,
      `--service-account-signing-key-file=${join(folder, 'sa-signer.key')}`,
    ])
    await untilHealthy(`https://127.0.0.1:${port}/healthz`)
    const ms = performance.now() - began
    return { ms, bytes: children.reduce((sum, { pid }) => sum + residentOf(pid ?? 0), 0) }
  } finally {
    await Promise.all(
      children.toReversed().map(async (child) => {
        if (child.exitCode !== null) return
        const ended = once(child, 'exit')
        process.kill(-(child.pid ?? 0), 'SIGTERM')
        await ended
      }),
    )
    rmSync(folder, { recursive: true, force: true })
  }
}

async function untilHealthy(url: string): Promise<void> {
  while ((await statusOf(url)) !== 200) await wait(POLL_MS)
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const asked = url.startsWith('https:') ? secure(url, { rejectUnauthorized: false, agent: false }) : plain(url)
    asked.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    asked.on('error', () => resolve(undefined))
    asked.end()
  })
}

/** With all that runs below it. */
function residentOf(pid: number): number {
  try {
    const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    const below = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return Number(kib ?? 0) * 1024 + below.reduce((sum, child) => sum + residentOf(Number(child)), 0)
  } catch {
    return 0
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
