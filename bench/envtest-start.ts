/**
 * node bench/envtest-start.ts [--times 20] [--assets FOLDER]: how long a control plane takes to be up as controller-runtime's envtest
 * starts it, how much processor time of that, and what its two processes hold then; with another folder beside ours, both in turns.
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
/** When memory is looked at: what a start leaves behind to be done is done. */
const SETTLED_MS = 1000
const NOTHING: Memory = { resident: 0, proportional: 0, anonymous: 0 }
const added = (one: Memory, other: Memory): Memory => ({
  resident: one.resident + other.resident,
  proportional: one.proportional + other.proportional,
  anonymous: one.anonymous + other.anonymous,
})

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const { values } = parseArgs({ options: { times: { type: 'string', default: '20' }, assets: { type: 'string' } } })
const skiff = fileURLToPath(new URL('../bin/skiff.js', import.meta.url))
const own = execFileSync(process.execPath, [skiff, 'envtest', 'path'], { encoding: 'utf8' }).trim()
const subjects = new Map([['skiff', own], ...(values.assets === undefined ? [] : [['other', values.assets] as const])])
const found = new Map([...subjects.keys()].map((name) => [name, [] as Start[]]))
for (let round = 0; round < Number(values.times); round++)
  for (const [name, folder] of subjects) found.get(name)?.push(await startOnce(folder))
for (const [name, starts] of found) {
  const mib = (kind: keyof Memory) => (median(starts.map(({ memory }) => memory[kind])) / 2 ** 20).toFixed(0)
  console.log(
    `${name}: up after ${median(starts.map(({ ms }) => ms)).toFixed(0)} ms in the median of ${starts.length} (${median(starts.map(({ processorMs }) => processorMs)).toFixed(0)} ms of the processor), ${mib('resident')} MiB resident (${mib('proportional')} proportional, ${mib('anonymous')} anonymous)`,
  )
}

/** In bytes, of all processes of a control plane. */
interface Memory {
  /** What each has in its memory, though others have it too (VmRSS): that of a program's file among it. */
  readonly resident: number
  /** The same, but what several share is divided among them (Pss). */
  readonly proportional: number
  /** Without what is a file's. */
  readonly anonymous: number
}

interface Start {
  readonly ms: number
  /** On Linux; whatever else the machine does. */
  readonly processorMs: number
  readonly memory: Memory
}

async function startOnce(assets: string): Promise<Start> {
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
    const processorMs = children.reduce((sum, { pid }) => sum + processorMsOf(pid ?? 0), 0)
    await wait(SETTLED_MS)
    return { ms, processorMs, memory: children.reduce((sum, { pid }) => added(sum, memoryOf(pid ?? 0)), NOTHING) }
  } finally {
    // One after another, as envtest does: kube-apiserver does not end without its etcd.
    for (const child of children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'exit')
      process.kill(-(child.pid ?? 0), 'SIGTERM')
      await ended
    }
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

/** Of a process and of its children that have ended, all threads (utime, stime, cutime, cstime), in ticks of 10 ms. */
function processorMsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return 10 * fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
  } catch {
    return 0
  }
}

/** With all that runs below it. */
function memoryOf(pid: number): Memory {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) * 1024
    const own = { resident: bytes('Rss'), proportional: bytes('Pss'), anonymous: bytes('Anonymous') }
    const below = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return below.reduce((sum, child) => added(sum, memoryOf(Number(child))), own)
  } catch {
    return NOTHING
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
