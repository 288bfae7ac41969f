/**
 * A machine of its own for real containers: mount, network and process namespaces with a containerd in them (machine.sh), where a skiff
 * runs that knows nothing of it. Everything ends with it. SKIFF_CONTAINERD names a folder with another containerd, its shim and its runc
 * (made by interop/containerd/build, where it is not there yet) than those of the machine.
 */
import { type ChildProcess, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { writeTar } from '../../src/kubelet/images/tar.ts'
import { kubectlPath, withoutKubectl } from '../kubectl.ts'
import { lacks } from '../machine.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** For the `skip` option of a test with a machine: false, or why it cannot run. */
export const withoutContainers: string | false = lacks.containers() || withoutKubectl
const PATIENCE_MS = 120_000
const BUILD_MS = 3_600_000

/** In which programs are looked for. @throws Error when the containerd that is wanted cannot be built */
function path(): string {
  const usual = `${process.env['PATH']}:/usr/sbin:/sbin`
  const named = process.env['SKIFF_CONTAINERD']
  if (named === undefined) return usual
  const folder = resolve(root, named)
  if (!existsSync(join(folder, 'runc'))) {
    const build = join(root, 'interop/containerd/build')
    const { status, stderr } = spawnSync('nice', [build, folder], { encoding: 'utf8', timeout: BUILD_MS })
    if (status !== 0) throw new Error(`containerd could not be built: ${stderr}`)
  }
  return `${folder}:${usual}`
}

export interface Said {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface ContainerMachine {
  readonly directory: string
  readonly dataDir: string
  /** In the machine's namespaces. */
  run(command: string, ...args: readonly string[]): Said
  /** The same, without waiting for its end. */
  start(command: string, ...args: readonly string[]): ChildProcess
  skiff(...args: readonly string[]): Said
  kubectl(...args: readonly string[]): Said
  /** kubectl with objects to read. @throws Error when it fails */
  apply(...objects: readonly object[]): void
  stop(): Promise<void>
}

/** How full the machine's disk is changes nothing, but where a test says otherwise. */
export const WHATEVER_THE_DISK = ['--eviction-hard', 'memory.available<100Mi']
const RUNS_CONTAINERS = ['up', '--runtime', 'cri']

/** Looks again and again: what is waited for happens in other processes. @throws Error with what was seen last */
export async function until<T>(what: string, look: () => T | undefined | false, ms = PATIENCE_MS): Promise<T> {
  for (const from = performance.now(); ; await wait(100)) {
    const seen = look()
    if (seen !== undefined && seen !== false) return seen
    if (performance.now() - from > ms) throw new Error(`waited in vain: ${what}`)
  }
}

export interface ContainerMachineOptions {
  /** The URL that containerd asks for all images, whatever registry they are named by. Default: the registries themselves. */
  readonly registry?: string
  /** What images and containers are kept on has this size alone, such as `64m`. Default: the disk of the machine. */
  readonly imageDisk?: string
}

export async function startContainerMachine({
  registry,
  imageDisk = '',
}: ContainerMachineOptions = {}): Promise<ContainerMachine> {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-containers-'))
  const mirrors = join(directory, 'registries/_default')
  mkdirSync(mirrors, { recursive: true })
  if (registry !== undefined)
    writeFileSync(
      join(mirrors, 'hosts.toml'),
      `[host.${JSON.stringify(registry)}]\ncapabilities = ["pull", "resolve"]\n`,
    )
  const script = join(root, 'test/containers/machine.sh')
  const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']
  const PATH = path()
  // It ends with this process, however that ends.
  const ends = ['--pdeathsig', 'KILL', 'unshare']
  const outer = spawn('setpriv', [...ends, ...namespaces, script, directory, '/usr/lib/cni', imageDisk], {
    env: { ...process.env, PATH },
    stdio: 'ignore',
    detached: true,
  })
  const ended = new Promise<void>((resolve) => outer.once('exit', () => resolve()))
  // A test that fails before it has the machine ends all the same.
  outer.unref()
  const inner = await until('the machine', () => {
    const children = readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8').trim()
    return children !== '' && existsSync(join(directory, 'ready')) && children
  })
  await until('containerd', () => existsSync(`/proc/${inner}/root/run/containerd/containerd.sock`))
  const dataDir = join(directory, 'data')
  const env = {
    ...process.env,
    PATH,
    KUBECONFIG: join(dataDir, 'kubeconfig'),
  }
  const inside = ['-t', inner, '-m', '-n', '-p', '--']
  const run = (command: string, ...args: readonly string[]): Said =>
    said(
      spawnSync('nsenter', [...inside, command, ...args], {
        encoding: 'utf8',
        env,
        timeout: PATIENCE_MS,
      }),
    )
  const kubectl = (...args: readonly string[]) => run(kubectlPath, ...args)
  await until('containerd answers', () => run('ctr', 'version').status === 0)
  return {
    directory,
    dataDir,
    run,
    start: (command, ...args) => spawn('nsenter', [...inside, command, ...args], { env }),
    skiff(...args) {
      const evicts = RUNS_CONTAINERS.every((word) => args.includes(word)) && !args.includes('--eviction-hard')
      const flags = ['--data-dir', dataDir, ...(evicts ? WHATEVER_THE_DISK : [])]
      return run(process.execPath, join(root, 'bin/skiff.js'), ...args, ...flags)
    },
    kubectl,
    apply(...objects) {
      const file = join(directory, 'objects.json')
      writeFileSync(file, JSON.stringify({ kind: 'List', apiVersion: 'v1', items: objects }))
      const { status, stderr } = kubectl('apply', '-f', file)
      if (status !== 0) throw new Error(stderr)
    },
    async stop() {
      outer.ref()
      outer.kill('SIGKILL')
      await ended
      // What ran in the namespaces ends with them, a moment later.
      await until('the machine’s end', () => !existsSync(`/proc/${inner}`))
      rmSync(directory, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}

const said = ({ status, stdout, stderr }: SpawnSyncReturns<string>): Said => ({ status, stdout, stderr })

/** An image of Debian's static busybox alone, as docker save would write it. */
export function busyboxArchive(directory: string, name: string): string {
  const found = spawnSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).stdout.trim()
  const layer = writeTar([{ name: 'bin/busybox', bytes: readFileSync(found), mode: 0o755 }])
  const { createHash } = process.getBuiltinModule('node:crypto')
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const config = {
    architecture,
    os: 'linux',
    config: { Env: ['PATH=/bin'], Cmd: ['/bin/busybox'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(layer).digest('hex')}`] },
  }
  const file = (path: string, text: string | Uint8Array) => ({ name: path, bytes: Buffer.from(text), mode: 0o644 })
  const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]
  mkdirSync(directory, { recursive: true })
  const archive = join(directory, 'busybox.tar')
  writeFileSync(
    archive,
    writeTar([
      file('manifest.json', JSON.stringify(manifest)),
      file('config.json', JSON.stringify(config)),
      file('layer.tar', layer),
    ]),
  )
  return archive
}

/** A network that is not skiff's: pods stand on one bridge, as with flannel or kind. */
export const NETWORK_OF_OTHERS = {
  cniVersion: '1.0.0',
  name: 'others',
  plugins: [
    {
      type: 'bridge',
      bridge: 'others',
      isGateway: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.99.1.0/24' }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
  ],
}
