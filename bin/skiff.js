#!/usr/bin/env node
// The skiff command: finds a Node that can run it, and runs it. In a checkout that is src/ (TypeScript, Node 24), or what
// `npm ci` bundled of it while no source has changed since; in a published package dist/ (Node 22). Plain JavaScript that Node
// 20 understands, so that an older Node gets a clear answer.

// Imports of Node's own modules read everything that they export, and load what is there behind getters (tools/builtins.ts).
const builtin = process.getBuiltinModule ?? (await import('node:module')).createRequire(import.meta.url)
const { existsSync, mkdirSync, readFileSync, statSync } = builtin('node:fs')
const { homedir } = builtin('node:os')
const { dirname, join } = builtin('node:path')
const { fileURLToPath, pathToFileURL } = builtin('node:url')

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const checkout = existsSync(join(root, 'src/cli/main.ts'))
const wantedMajor = checkout ? 24 : 22
const wanted = checkout ? '24' : '22.3'
const major = Number(process.versions.node.split('.')[0])

/**
 * A server's garbage is requests. V8 makes objects of a kind that mostly lived, as at start, old from their birth: each of them
 * keeps its request, which nobody needs any more, from being collected with the young (1.5 kB of every GET, and what it costs
 * to move and mark them).
 */
const PRETENURING = '--no-allocation-site-pretenuring'

/**
 * glibc keeps what was freed: in an arena of its own for each thread, and below a threshold that grows with what is freed. What is outside of
 * V8's heap comes and goes here in pieces of 16 to 128 KiB. One arena, and a fixed threshold from which memory is the machine's again,
 * hold a tenth less. Other C libraries do not read this.
 */
const MALLOC = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '262144', MALLOC_MMAP_THRESHOLD_: '262144' }

/** DEP0123: @grpc/grpc-js says the address of an etcd where TLS takes names alone, and Node leaves it out. */
const SETTINGS = ['--disable-warning=DEP0123', '--disable-warning=ExperimentalWarning', PRETENURING]

/**
 * V8 gives a heap 4 GiB at most by itself, and a process that reaches its limit is gone; a cluster of some 130,000 pods is as large. Three
 * quarters of the memory that this process may use, where that is more: what a cluster takes is limited by --memory-limit, which refuses requests.
 */
function heapLimit() {
  const { NODE_OPTIONS = '' } = process.env
  if ([NODE_OPTIONS, ...process.execArgv].some((given) => /--max[-_](old[-_]space|heap)[-_]size/.test(given))) return []
  const memory = Math.min(builtin('node:os').totalmem(), process.constrainedMemory?.() || Number.POSITIVE_INFINITY)
  const mebibytes = Math.floor((memory * 0.75) / 2 ** 20)
  return mebibytes > 4096 ? [`--max-old-space-size=${mebibytes}`] : []
}

/** The Node that `npm ci` brought, where tools/node has one for this platform. */
function bundledNode() {
  const names = [`node-${process.platform}-${process.arch}`, `node-bin-${process.platform}-${process.arch}`]
  const places = [join(root, 'node_modules'), join(root, 'tools/node/node_modules')]
  return places.flatMap((place) => names.map((name) => join(place, name, 'bin/node'))).find((file) => existsSync(file))
}

/**
 * What tools/bundle.ts made of the sources: undefined when one of them is not what it was then. There are a thousand, which is why
 * their paths are put together plainly.
 */
function freshBundle() {
  try {
    const made = JSON.parse(readFileSync(join(root, `node_modules/.cache/skiff/${program}.json`), 'utf8'))
    if (made.root !== root) return undefined
    for (const [path, mtimeMs, size] of made.inputs) {
      const now = statSync(`${root}/${path}`)
      if (now.mtimeMs !== mtimeMs || now.size !== size) return undefined
    }
    for (const [name, size] of made.outputs) if (statSync(`${made.folder}/${name}`).size !== size) return undefined
    return join(made.folder, `${program}.mjs`)
  } catch {
    return undefined
  }
}

/** `run-as NAME ARGS` is what the executables in bin/envtest run: programs without the command's own. */
const isRunAs = process.argv[2] === 'run-as'
const program = !isRunAs ? 'main' : process.argv[3] === 'etcd' ? 'etcd' : 'executables'
const SOURCES = { main: 'src/cli/main.ts', executables: 'src/envtest/executables.ts', etcd: 'src/envtest/etcd.ts' }

function entry() {
  if (!checkout) return join(root, `dist/${program}.mjs`)
  return freshBundle() ?? join(root, SOURCES[program])
}

/** Without the bundler (npm ci --omit=dev) the sources are compiled, and no less true. */
async function bundleCheckout() {
  try {
    await (await import(pathToFileURL(join(root, 'tools/bundle.ts')).href)).bundleCheckout()
  } catch (error) {
    process.stderr.write(`skiff: starts will be slower, the sources could not be bundled: ${error.message}\n`)
  }
}

/** Compiled code is kept here between starts: only this user may write there, since what is in it gets run. */
function compileCache() {
  try {
    // A user without a home has none for this either.
    const directory = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'skiff/compile')
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return directory
  } catch {
    return undefined
  }
}

function runWith(node, env) {
  const args = [
    ...SETTINGS,
    ...heapLimit(),
    ...process.execArgv,
    fileURLToPath(import.meta.url),
    ...process.argv.slice(2),
  ]
  if (typeof process.execve === 'function') {
    process.removeAllListeners('warning')
    process.emitWarning = () => {}
    process.execve(node, [node, ...args], env)
  }
  const child = builtin('node:child_process').spawn(node, args, { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`cannot run ${node}: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
}

function fail(message) {
  process.stderr.write(`skiff: ${message}\n`)
  process.exit(1)
}

if (process.env.SKIFF_REEXECUTED === '1') {
  // The first of Node 22 lack process.getBuiltinModule, which bundles are made of.
  if (major < wantedMajor || process.getBuiltinModule === undefined)
    fail(`needs Node ${wanted} or later, this is ${process.version}`)
  if (checkout && process.argv[2] === 'precompile') await bundleCheckout()
  const { main, runExecutable, etcd } = await import(pathToFileURL(entry()).href)
  await (main ?? runExecutable ?? etcd)(process.argv.slice(isRunAs ? 3 : 2))
} else {
  const node = major >= wantedMajor ? process.execPath : bundledNode()
  if (node === undefined) {
    const bring = checkout ? ', or let `npm ci` bring one (without --omit=optional)' : ''
    fail(`needs Node ${wanted} or later, this is ${process.version}: install a newer Node${bring}`)
  }
  const { NODE_COMPILE_CACHE: given, NODE_DISABLE_COMPILE_CACHE: off } = process.env
  const cache = given || off ? undefined : compileCache()
  const env = {
    ...MALLOC,
    ...process.env,
    SKIFF_REEXECUTED: '1',
    ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }),
  }
  runWith(node, env)
}
