/**
 * etcd as the starters of tests know it: its flags, its health, its end. It holds nothing: kube-apiserver has the objects, attaches
 * itself here (store-link.ts), answers clients of etcd through this port (etcd-port.ts), and is told by its connection when this
 * process is gone.
 */
import { mkdirSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'
import { liveClock } from '../base/live-clock.ts'
import { FlagError, parseFlags } from '../components/flags.ts'
import { ETCD_FLAGS } from './etcd-flags.ts'
import { createEtcdPort } from './etcd-port.ts'
import { watchParent } from './parent.ts'

/** The one that these executables stand for. */
export const ETCD_VERSION = '3.7.3'
const DEFAULT_CLIENT_URL = 'http://localhost:2379'

/** Runs until it is ended by a signal or its parent is gone; exits 1 or 2 with one line when something is wrong. */
export function etcd(args: readonly string[], env: NodeJS.ProcessEnv): void {
  if (args.some((arg) => /^--?version$/.test(arg))) {
    process.stdout.write(`etcd Version: ${ETCD_VERSION}\n`)
    return
  }
  try {
    // Go's flags may begin with one dash.
    const values = parseFlags(
      'etcd',
      ETCD_FLAGS,
      args.map((arg) => arg.replace(/^-(?=[a-z])/, '--')),
    )
    const urls = (values.get('listen-client-urls')?.at(-1) ?? DEFAULT_CLIENT_URL).split(',').map(clientUrl)
    if (values.has('listen-client-urls') && !values.has('advertise-client-urls'))
      throw new Error('--advertise-client-urls is required when --listen-client-urls is set explicitly')
    // Whoever started it may look for the folder, and removes it.
    const folder = values.get('data-dir')?.at(-1)
    if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 })
    watchParent(liveClock(), env, () => process.exit(1))
    serve(urls)
  } catch (error) {
    fail(messageOf(error), error instanceof FlagError ? 2 : 1)
  }
}

function fail(message: string, code: number): never {
  process.stderr.write(`etcd: ${message}\n`)
  process.exit(code)
}

/** Only on this machine's own: what is stored has no other guard here. */
function clientUrl(text: string): URL {
  if (!URL.canParse(text)) throw new Error(`--listen-client-urls: ${text} is no URL`)
  const url = new URL(text)
  if (url.protocol !== 'http:') throw new Error(`--listen-client-urls: ${text}: skiff's etcd speaks http alone`)
  if (!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname))
    throw new Error(`--listen-client-urls: ${text}: skiff's etcd listens on loopback alone`)
  return url
}

function serve(urls: readonly URL[]): void {
  const port = createEtcdPort(PAGES)
  for (const url of urls) {
    const server = port.server()
    server.on('error', (error) => fail(`cannot listen on ${url.host}: ${error.message}`, 1))
    server.listen({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 80), exclusive: true })
  }
}

/** As etcd answers them. */
const PAGES: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '/health': ['text/plain; charset=utf-8', '{"health":"true","reason":""}'],
  '/readyz': ['text/plain; charset=utf-8', 'ok\n'],
  '/livez': ['text/plain; charset=utf-8', 'ok\n'],
  '/version': [
    'application/json',
    JSON.stringify({ etcdserver: ETCD_VERSION, etcdcluster: '3.7.0', storage: '3.7.0' }),
  ],
}
