/**
 * The images that Kubernetes' end-to-end tests ask for, made without a registry: programs that the script `build` has built and
 * programs of this Debian machine with their libraries, under the names that the tests list, in one archive as `docker save` writes it.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pauseProgram } from '../../src/kubelet/machine/pause-program.ts'

/** Commands of this machine that go into images, and the packages of Debian that have them. */
const PROGRAMS: Readonly<Record<string, string>> = {
  bash: 'bash',
  busybox: 'busybox-static',
  curl: 'curl',
  dig: 'bind9-dnsutils',
  getent: 'libc-bin',
  ip: 'iproute2',
  ipcs: 'util-linux',
  nc: 'netcat-openbsd',
  socat: 'socat',
  ss: 'iproute2',
  wget: 'wget',
}
const DIRECTORIES = ['bin', 'dev', 'etc', 'home', 'proc', 'root', 'run', 'sys', 'tmp', 'usr/bin', 'usr/sbin', 'var/run']
const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Image configuration (OCI image-spec), as far as these images need it. */
interface Config {
  readonly Entrypoint?: readonly string[]
  readonly Cmd?: readonly string[]
  readonly User?: string
  readonly StopSignal?: string
}

type LayerName = 'base' | 'tools' | 'agnhost' | 'pause' | 'nginx' | 'nonewprivs' | 'nautilus' | 'kitten'
type Layers = readonly (LayerName | 'etcd' | 'sample-apiserver')[]

/** Each image by the last part of its name. What is not here is asked for by no conformance test. */
const IMAGES: Readonly<Record<string, readonly [Layers, Config]>> = {
  agnhost: [['base', 'tools', 'agnhost'], { Entrypoint: ['/agnhost'], Cmd: ['pause'] }],
  busybox: [['base'], { Cmd: ['sh'] }],
  etcd: [['base', 'etcd'], { Cmd: ['etcd'] }],
  'glibc-dns-testing': [['base', 'tools'], { Cmd: ['bash'] }],
  'ipc-utils': [['base', 'tools'], { Cmd: ['bash'] }],
  kitten: [['base', 'tools', 'agnhost', 'kitten'], { Entrypoint: ['/agnhost'], Cmd: ['test-webserver'] }],
  nautilus: [['base', 'tools', 'agnhost', 'nautilus'], { Entrypoint: ['/agnhost'], Cmd: ['test-webserver'] }],
  nginx: [['base', 'nginx'], { Cmd: ['nginx', '-g', 'daemon off;'], StopSignal: 'SIGQUIT' }],
  nonewprivs: [['base', 'nonewprivs'], { Cmd: ['nnp'] }],
  nonroot: [['base'], { User: '1234', Cmd: ['sh'] }],
  pause: [['pause'], { Entrypoint: ['/pause'], User: '65535:65535' }],
  'sample-apiserver': [['base', 'sample-apiserver'], { Entrypoint: ['/sample-apiserver'] }],
}

/** Which of the built programs a layer is made of. An image for which one has not been built is left out. */
const BUILT: Partial<Readonly<Record<Layers[number], string>>> = {
  agnhost: 'agnhost',
  etcd: 'etcd',
  nginx: 'web',
  nonewprivs: 'nonewprivs',
  'sample-apiserver': 'sample-apiserver',
}

/** Repositories of the tests' list whose images are there to be missing, or to be refused. */
const MEANT_TO_FAIL = /^(?:invalid\.registry|gcr\.io\/authenticated)/

/** Where a command of this machine is. */
function found(command: string): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', 'PATH=$PATH:/usr/sbin:/sbin command -v "$0"', command], {
    encoding: 'utf8',
  })
  return status === 0 ? stdout.trim() : undefined
}

/** In one line what to install, or undefined where nothing is missing. */
export function missingPrograms(): string | undefined {
  const missing = Object.entries(PROGRAMS).filter(([command]) => found(command) === undefined)
  if (missing.length === 0) return undefined
  const packages = [...new Set(missing.map(([, name]) => name))].join(' ')
  return `the images need ${missing.map(([command]) => command).join(', ')} of this machine: apt-get install ${packages}`
}

export interface BuiltImages {
  /** As `docker save` writes it. */
  readonly archive: string
  /** What is in the archive, as files. */
  readonly directory: string
}

/**
 * Writes the archive `images.tar` and the directory `images` into the directory of what was built, unless those there are of the same
 * programs. `names` are the tests' own (e2e.test --list-images).
 */
export function buildImages(directory: string, names: readonly string[]): BuiltImages {
  const archive = join(directory, 'images.tar')
  const files = join(directory, 'images')
  const built = { archive, directory: files }
  const isBuilt = (layer: Layers[number]) => BUILT[layer] === undefined || existsSync(join(directory, BUILT[layer]))
  const images = Object.entries(IMAGES).filter(([, [layers]]) => layers.every(isBuilt))
  const programs = Object.values(BUILT).map((name) => join(directory, name))
  const inputs = [import.meta.filename, ...programs.filter(existsSync)]
  const made = createHash('sha256')
  for (const input of inputs) made.update(readFileSync(input))
  const stamp = made.update(names.join('\n')).digest('hex')
  const stampFile = join(directory, 'images.stamp')
  if ([archive, files, stampFile].every(existsSync) && readFileSync(stampFile, 'utf8') === stamp) return built
  const staging = join(directory, 'staging')
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging)
  const layerOf = layersIn(directory, staging)
  const manifest = images.map(([name, [layers, config]]) => {
    const ids = layers.map(layerOf)
    const whole = {
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Env: [PATH], WorkingDir: '/', ...config },
      rootfs: { type: 'layers', diff_ids: ids.map((id) => `sha256:${id}`) },
    }
    writeFileSync(join(staging, `${name}.json`), JSON.stringify(whole))
    const tags = names.filter((full) => !MEANT_TO_FAIL.test(full) && basename(full).split(':')[0] === name)
    return { Config: `${name}.json`, RepoTags: tags, Layers: ids.map((id) => `${id}.tar`) }
  })
  writeFileSync(join(staging, 'manifest.json'), JSON.stringify(manifest))
  execFileSync('tar', ['-C', staging, '-cf', `${archive}.new`, '.'])
  renameSync(`${archive}.new`, archive)
  rmSync(files, { recursive: true, force: true })
  renameSync(staging, files)
  writeFileSync(stampFile, stamp)
  return built
}

/** Makes each layer once, as a file named by its digest (hexadecimal SHA-256). */
function layersIn(directory: string, staging: string): (name: Layers[number]) => string {
  const digests = new Map<string, string>()
  const root = join(staging, 'root')
  return (name) => {
    const known = digests.get(name)
    if (known !== undefined) return known
    mkdirSync(root)
    fill[name]({ directory, root })
    const file = join(staging, 'layer')
    const reproducible = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name', '--mtime=@0']
    execFileSync('tar', ['-C', root, ...reproducible, '-cf', file, '.'])
    const digest = createHash('sha256').update(readFileSync(file)).digest('hex')
    renameSync(file, join(staging, `${digest}.tar`))
    rmSync(root, { recursive: true })
    digests.set(name, digest)
    return digest
  }
}

interface Filling {
  /** Where the built programs are. */
  readonly directory: string
  readonly root: string
}

/** What is in each layer. */
const fill: Readonly<Record<Layers[number], (filling: Filling) => void>> = {
  base({ root }) {
    for (const name of DIRECTORIES) mkdirSync(join(root, name), { recursive: true })
    for (const name of ['tmp', 'var/tmp']) {
      mkdirSync(join(root, name), { recursive: true })
      chmodSync(join(root, name), 0o1777)
    }
    const busybox = join(root, 'bin/busybox')
    copyFileSync(found('busybox')!, busybox)
    for (const applet of execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n'))
      if (applet !== 'busybox' && applet !== 'sh') symlinkSync('busybox', join(root, 'bin', applet))
    // The shell of Debian's busybox passes no variables on whose names it could not have set itself (`data-1`).
    addProgram(root, 'bash')
    symlinkSync('/usr/bin/bash', join(root, 'bin/sh'))
    // Debian's static busybox cannot set the time limits of its own wget.
    addProgram(root, 'wget')
    accounts(root, [], [])
    writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n')
  },
  tools({ root }) {
    for (const name of ['curl', 'dig', 'nc', 'ss', 'ip', 'ipcs', 'getent', 'socat']) addProgram(root, name)
  },
  agnhost({ directory, root }) {
    add(root, join(directory, 'agnhost'), 'agnhost')
    symlinkSync('agnhost', join(root, 'agnhost-2'))
    mkdirSync(join(root, 'uploads'))
    for (const name of ['localhost.crt', 'localhost.key']) add(root, join(directory, 'files/porter', name), name, 0o644)
    accounts(
      root,
      ['user-defined-in-image:x:1000:1000::/home:/bin/sh'],
      ['user-defined-in-image:x:1000:', 'group-defined-in-image:x:50000:user-defined-in-image'],
    )
  },
  pause({ root }) {
    writeFileSync(join(root, 'pause'), pauseProgram(process.arch === 'arm64' ? 'arm64' : 'amd64'), { mode: 0o755 })
  },
  nginx({ directory, root }) {
    add(root, join(directory, 'web'), 'usr/sbin/nginx')
    page(root, 'usr/share/nginx/html', '<h1>Welcome to nginx!</h1>')
  },
  nonewprivs({ directory, root }) {
    add(root, join(directory, 'nonewprivs'), 'usr/local/bin/nnp', 0o6755)
  },
  nautilus: ({ directory, root }) => cpSync(join(directory, 'files/nautilus/html'), root, { recursive: true }),
  kitten: ({ directory, root }) => cpSync(join(directory, 'files/kitten/html'), root, { recursive: true }),
  etcd: ({ directory, root }) => add(root, join(directory, 'etcd'), 'usr/local/bin/etcd'),
  'sample-apiserver': ({ directory, root }) => add(root, join(directory, 'sample-apiserver'), 'sample-apiserver'),
}

function add(root: string, from: string, to: string, mode = 0o755): void {
  mkdirSync(dirname(join(root, to)), { recursive: true })
  copyFileSync(from, join(root, to))
  chmodSync(join(root, to), mode)
}

/** A program of this machine, with the libraries that it loads, where they are here. */
function addProgram(root: string, command: string): void {
  const path = found(command)!
  add(root, path, `usr/bin/${command}`)
  const { stdout } = spawnSync('ldd', [path], { encoding: 'utf8' })
  for (const [library] of stdout.matchAll(/\/\S+\.so\S*/g)) add(root, library, library.slice(1))
}

function accounts(root: string, users: readonly string[], groups: readonly string[]): void {
  mkdirSync(join(root, 'etc'), { recursive: true })
  const usual = ['root:x:0:0:root:/root:/bin/sh', 'nobody:x:65534:65534:nobody:/home:/bin/false']
  writeFileSync(join(root, 'etc/passwd'), `${[...usual, ...users].join('\n')}\n`)
  writeFileSync(join(root, 'etc/group'), `${['root:x:0:', 'nobody:x:65534:', ...groups].join('\n')}\n`)
}

function page(root: string, folder: string, html: string): void {
  mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, folder, 'index.html'), `${html}\n`)
}
