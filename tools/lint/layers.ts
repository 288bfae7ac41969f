/**
 * Rules of the architecture that a formatter's linter does not know (docs/architecture.md): which room may import which, the order
 * of the folders within api and apiserver, and no ambient time or chance outside src/base. Exits 1 and names every place that
 * breaks one.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** A room may import itself and these. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  http: ['base', 'api'],
  api: ['base'],
  storage: ['base'],
  apiserver: ['base', 'http', 'api', 'storage'],
  client: ['base', 'http', 'api'],
  controllers: ['base', 'http', 'api', 'client'],
  scheduler: ['base', 'http', 'api', 'client'],
  kubelet: ['base', 'http', 'api', 'client'],
  proxy: ['base', 'http', 'api', 'client'],
  dns: ['base', 'http', 'api', 'client'],
  cluster: [
    'base',
    'http',
    'api',
    'storage',
    'apiserver',
    'client',
    'controllers',
    'scheduler',
    'kubelet',
    'proxy',
    'dns',
  ],
  components: [
    'base',
    'http',
    'api',
    'apiserver',
    'client',
    'controllers',
    'scheduler',
    'kubelet',
    'proxy',
    'dns',
    'cluster',
  ],
  envtest: ['base', 'api', 'cluster', 'components'],
  inspect: ['base', 'http', 'api', 'client', 'controllers', 'scheduler', 'kubelet', 'proxy', 'dns', 'cluster'],
  ui: ['base', 'http', 'api', 'client', 'cluster', 'inspect'],
  cli: ['base', 'http', 'api', 'client', 'cluster', 'components', 'storage', 'inspect', 'ui'],
}

/**
 * Within a room each folder, and each file beside the folders, may import itself and those before it. Only names directly below
 * the room stand here: a file that others of its folder's height need belongs into a lower folder.
 */
const order: Readonly<Record<string, readonly string[]>> = {
  api: [
    'object.ts',
    'unchecked.ts',
    'journal.ts',
    'generated',
    'same.ts',
    'owner-references.ts',
    'journal-texts.ts',
    'freeze.ts',
    'parts.ts',
    'metadata.ts',
    'quote.ts',
    'decode-problem.ts',
    'status.ts',
    'request.ts',
    'users.ts',
    'values',
    'errors',
    'names',
    'objects',
    'schema',
    'cel',
    'scheme',
    'fields',
    'patch',
    'codec',
    'configuration',
    'validation',
    'defaults',
  ],
  apiserver: [
    'tracing',
    'cache',
    'duration-buckets.ts',
    'request',
    'reads.ts',
    'nodes',
    'service-address.ts',
    'webhooks',
    'auth',
    'registry',
    'customresources',
    'strategies',
    'loopback.ts',
    'admission',
    'audit',
    'faults',
    'handlers',
    'flowcontrol',
    'filters',
    'identity.ts',
    'aggregation',
    'discovery',
    'openapi',
    'conversions',
    'endpoints',
    'encryption',
    'loops',
    'measured-storage.ts',
    'stored-by-kubernetes.ts',
    'state-metrics.ts',
    'server.ts',
  ],
}

/** The place of a room's file in its order; -1 for one that has none. */
function placeOf(room: string, path: string): number {
  return order[room]?.indexOf(path.split('/')[0] ?? '') ?? -1
}

/** api may use base's types and Stream, and nothing that knows sockets, files or time. */
const nodeModules: Readonly<Record<string, RegExp>> = {
  api: /^node:(?!buffer|zlib|module|fs|crypto|url|v8)/,
  controllers: /^node:(http|https|http2|tls|net)/,
  scheduler: /^node:(?!assert|test)/,
  apiserver: /^node:(http|https|http2|tls|net)\b/,
  client: /^node:(http|https|http2|tls|net)\b/,
}

const ambient: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\b/, 'Date.now'],
  [/\bnew Date\(\s*\)/, 'new Date()'],
  [/\bperformance\.now\b/, 'performance.now'],
  [/(?<![.\w])setTimeout\(/, 'setTimeout'],
  [/(?<![.\w])setInterval\(/, 'setInterval'],
  [/(?<![.\w])setImmediate\(/, 'setImmediate'],
  [/\bprocess\.nextTick\b/, 'process.nextTick'],
  [/(?<![.\w])queueMicrotask\(/, 'queueMicrotask'],
  [/\bAbortSignal\.timeout\b/, 'AbortSignal.timeout'],
  [/\bMath\.random\b/, 'Math.random'],
  [/\b(randomUUID|randomBytes|randomInt|getRandomValues)\b/, 'crypto.random*'],
]

const problems: string[] = []

for (const file of globSync('src/**/*.{ts,tsx}').map((path) => path.replaceAll('\\', '/'))) {
  const room = file.split('/')[1] ?? ''
  const text = readFileSync(file, 'utf8')
  const isTest = file.endsWith('.test.ts')
  // It runs in a browser, which has its own time.
  const isPage = file.startsWith('src/ui/page/')
  const lines = text.split('\n')
  const place = placeOf(room, file.split('/').slice(2).join('/'))
  if (order[room] !== undefined && place < 0 && !isTest)
    problems.push(`${file}: has no place in the order of ${room}'s folders`)
  for (const [index, line] of lines.entries()) {
    const at = `${file}:${index + 1}`
    const from = /^\s*(?:\*|\/\/|\/\*)/.test(line) ? undefined : /(?:from|import\()\s*'([^']+)'/.exec(line)?.[1]
    if (from?.startsWith('.') && !isTest) {
      const target = normalize(join(dirname(file), from)).split('/')
      const other = target[1] ?? ''
      if (target[0] !== 'src') problems.push(`${at}: imports ${from}, outside src/`)
      else if (other !== room && !mayImport[room]?.includes(other))
        problems.push(`${at}: ${room} may not import ${other} (${from})`)
      else if (other === room && order[room] !== undefined) {
        const imported = placeOf(room, target.slice(2).join('/'))
        if (imported > place)
          problems.push(
            `${at}: ${order[room][place]} may not import ${order[room][imported]}, which stands above it in ${room}`,
          )
      }
      const generated = target.join('/').includes('api/generated/types')
      const begins = lines.slice(0, index + 1).findLast((one) => /^(?:import|export)\b/.test(one))
      if (generated && !/import type|export type/.test(`${begins} ${line}`))
        problems.push(`${at}: generated types are for \`import type\` only`)
    }
    if (from && !isTest && nodeModules[room]?.test(from)) problems.push(`${at}: ${room} may not import ${from}`)
    if (room === 'base' || isPage || isTest || /^\s*(\*|\/\/|\/\*)/.test(line)) continue
    for (const [pattern, name] of ambient)
      if (pattern.test(line)) problems.push(`${at}: ${name}: time and chance come from base's Runtime`)
  }
}

for (const problem of problems) console.error(problem)
console.log(`${problems.length === 0 ? 'ok' : `${problems.length} problems`}: layers, time and chance`)
process.exit(problems.length === 0 ? 0 : 1)
