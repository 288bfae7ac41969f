/** What a release takes from elsewhere: npm's packages as package-lock.json names them, kubectl from its module, Debian's C++ library. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { bytesAt, listTar } from '../../src/kubelet/images/tar.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Locked {
  readonly version: string
  readonly integrity?: string
}

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}

/** The version and hash that package-lock.json gives a package. @throws Error when it does not name it */
export function locked(name: string): Locked {
  const found = lock.packages[`node_modules/${name}`] ?? lock.packages[`tools/node/node_modules/${name}`]
  if (found === undefined) throw new Error(`package-lock.json does not name ${name}`)
  return found
}

/**
 * Files of a package: from node_modules where `npm ci` has put it, else from the registry, held to the lock's hash.
 *
 * @throws Error when the registry cannot be asked, gives something else, or the package lacks a file
 */
export async function filesOfPackage(name: string, paths: readonly string[]): Promise<readonly Buffer[]> {
  const { version, integrity } = locked(name)
  const installed = join(root, 'node_modules', name)
  if (existsSync(join(installed, 'package.json'))) return paths.map((path) => readFileSync(join(installed, path)))
  const folder = mkdtempSync(join(tmpdir(), 'skiff-release-'))
  try {
    const args = ['pack', `${name}@${version}`, '--silent', '--pack-destination', folder]
    const packed = execFileSync('npm', args, { encoding: 'utf8', cwd: folder }).trim().split('\n').at(-1) ?? ''
    const bytes = readFileSync(join(folder, packed))
    const hash = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
    if (hash !== integrity) throw new Error(`${name}@${version} has ${hash}, and package-lock.json says ${integrity}`)
    const tar = join(folder, 'unpacked.tar')
    writeFileSync(tar, gunzipSync(bytes))
    const file = await open(tar)
    try {
      const entries = new Map((await listTar(file)).map((entry) => [entry.name.replace(/^[^/]*\//, ''), entry]))
      const found: Buffer[] = []
      for (const path of paths) {
        const entry = entries.get(path)
        if (entry?.type !== 'file') throw new Error(`${name}@${version} has no file ${path}`)
        found.push(await bytesAt(file, entry.offset, entry.size))
      }
      return found
    } finally {
      await file.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** kubectl for a platform, by Go's names for it. @throws Error when Go is missing or cannot build it */
export function builtKubectl(goos: string, goarch: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-kubectl-'))
  try {
    const out = join(folder, 'kubectl')
    const env = { ...process.env, GOOS: goos, GOARCH: goarch }
    execFileSync(join(root, 'interop/build-kubectl'), [out], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    return readFileSync(out)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const CPP_LIBRARIES = ['libstdc++.so.6', 'libgcc_s.so.1'] as const

/**
 * The libraries that Node needs beside glibc: this machine's own for its own architecture, else out of Debian's packages.
 *
 * @param architecture Debian's name for it
 * @throws Error when they are not there, or apt-get is missing or cannot get them
 */
export function cppLibraries(architecture: string): ReadonlyMap<string, Buffer> {
  const own = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim()
  if (own === architecture) return new Map(CPP_LIBRARIES.map((name) => [name, readFileSync(loaded(name))]))
  const folder = mkdtempSync(join(tmpdir(), 'skiff-debian-'))
  try {
    const options = ['State', 'Cache'].flatMap((kind) => ['-o', `Dir::${kind}=${folder}/${kind}`])
    options.push('-o', `APT::Architecture=${architecture}`, '-o', `APT::Architectures=${architecture}`)
    // apt reads as a user of its own otherwise, which may not write here.
    options.push('-o', 'APT::Sandbox::User=root', '-qq')
    const apt = (...args: string[]) =>
      execFileSync('apt-get', [...options, ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
    for (const path of ['State/lists/partial', 'Cache/archives/partial'])
      execFileSync('mkdir', ['-p', join(folder, path)])
    apt('update')
    apt('download', 'libstdc++6', 'libgcc-s1')
    for (const deb of execFileSync('ls', { cwd: folder, encoding: 'utf8' }).split('\n'))
      if (deb.endsWith('.deb')) execFileSync('dpkg-deb', ['-x', deb, 'unpacked'], { cwd: folder })
    const find = (name: string) =>
      execFileSync('find', ['unpacked', '-name', name], { cwd: folder, encoding: 'utf8' }).split('\n')[0] ?? ''
    return new Map(CPP_LIBRARIES.map((name) => [name, readFileSync(realpathSync(join(folder, find(name))))]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Where this machine's loader finds a library. */
function loaded(name: string): string {
  const line = execFileSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' })
    .split('\n')
    .find((each) => each.trim().startsWith(`${name} `))
  const path = line?.split('=> ')[1]
  if (path === undefined) throw new Error(`this machine has no ${name}: install libstdc++6`)
  return realpathSync(path)
}
