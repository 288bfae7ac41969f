/**
 * Two rules of the architecture that a formatter's linter does not know (docs/architecture.md):
 * who may import whom, and no ambient time or chance outside src/base. Exits 1 and names every place that breaks one.
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
  cluster: ['base', 'http', 'api', 'storage', 'apiserver', 'client', 'controllers', 'scheduler', 'kubelet'],
  envtest: ['base', 'api', 'cluster'],
  cli: ['base', 'http', 'api', 'client', 'cluster', 'storage'],
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

for (const file of globSync('src/**/*.ts').map((path) => path.replaceAll('\\', '/'))) {
  const room = file.split('/')[1] ?? ''
  const text = readFileSync(file, 'utf8')
  const isTest = file.endsWith('.test.ts')
  const lines = text.split('\n')
  for (const [index, line] of lines.entries()) {
    const at = `${file}:${index + 1}`
    const from = /(?:from|import\()\s*'([^']+)'/.exec(line)?.[1]
    if (from?.startsWith('.') && !isTest) {
      const target = normalize(join(dirname(file), from)).split('/')
      const other = target[1] ?? ''
      if (target[0] !== 'src') problems.push(`${at}: imports ${from}, outside src/`)
      else if (other !== room && !mayImport[room]?.includes(other))
        problems.push(`${at}: ${room} may not import ${other} (${from})`)
      const generated = target.join('/').includes('api/generated/types')
      if (generated && !/import type|export type/.test(line))
        problems.push(`${at}: generated types are for \`import type\` only`)
    }
    if (from && !isTest && nodeModules[room]?.test(from)) problems.push(`${at}: ${room} may not import ${from}`)
    if (room === 'base' || isTest || /^\s*(\*|\/\/|\/\*)/.test(line)) continue
    for (const [pattern, name] of ambient)
      if (pattern.test(line)) problems.push(`${at}: ${name}: time and chance come from base's Runtime`)
  }
}

for (const problem of problems) console.error(problem)
console.log(`${problems.length === 0 ? 'ok' : `${problems.length} problems`}: layers, time and chance`)
process.exit(problems.length === 0 ? 0 : 1)
