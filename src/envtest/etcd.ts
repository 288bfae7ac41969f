/**
 * etcd as the starters of tests know it: its flags, its health, its end. It holds nothing: kube-apiserver has the objects, attaches
 * itself here (store-link.ts), answers clients of etcd through this port (etcd-port.ts), and is told by its connection when this
 * process is gone.
 */

import { once } from 'node:events'
import { mkdirSync, writeSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { messageOf } from '../base/errors.ts'
import { liveClock } from '../base/live-clock.ts'
import { isLoopback } from '../base/loopback.ts'
import { FlagError, parseFlags } from '../components/flags.ts'
import { ETCD_FLAGS } from './etcd-flags.ts'
import { ETCD_PAGES, ETCD_VERSION } from './etcd-pages.ts'
import { createEtcdPort, type EtcdPort, type EtcdPortOptions, listenOn } from './etcd-port.ts'
import { type EtcdPlace, TO_SHELL } from './hand-over.ts'
import { helpOf } from './help.ts'
import { isHeldBeside } from './listeners.ts'
import { type Ancestors, ancestorsOf, LOOK_MS, watchParent } from './parent.ts'

const GOING_MS = 2 * LOOK_MS
const AGAIN_MS = 50
/** Where it listens in place of every address of the machine. */
const LOOPBACK_OF_WILDCARD: Readonly<Record<string, readonly string[]>> = {
  '0.0.0.0': ['127.0.0.1'],
  '[::]': ['127.0.0.1', '[::1]'],
}
const DEFAULT_CLIENT_URL = 'http://localhost:2379'

/**
 * An entry of its own, since little is to be loaded before it answers. Runs until it is ended by a signal or its parent is gone; exits 1
 * or 2 with one line when something is wrong.
 */
export function etcd([, ...args]: readonly string[]): void {
  const { env } = process
  if (args.includes('--help')) {
    process.stdout.write(helpOf('etcd', ETCD_FLAGS))
    return
  }
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
    const urls = (values.get('listen-client-urls')?.at(-1) ?? DEFAULT_CLIENT_URL).split(',').flatMap(clientUrls)
    if (values.has('listen-client-urls') && !values.has('advertise-client-urls'))
      throw new Error('--advertise-client-urls is required when --listen-client-urls is set explicitly')
    // Before the folder is made, which the test that started it may have removed by now.
    const ancestors = ancestorsOf(env)
    watchParent(liveClock(), ancestors, () => process.exit(1))
    // The test that started it may look for the folder, and removes it.
    const folder = values.get('data-dir')?.at(-1)
    if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 })
    void serve(urls, ancestors)
  } catch (error) {
    fail(messageOf(error), error instanceof FlagError ? 2 : 1)
  }
}

function fail(message: string, code: number): never {
  process.stderr.write(`etcd: ${message}\n`)
  process.exit(code)
}

/** Only on this machine's own, also where every address is asked for: what is stored has no other guard here. */
function clientUrls(text: string): readonly URL[] {
  if (!URL.canParse(text)) throw new Error(`--listen-client-urls: ${text} is no URL`)
  const url = new URL(text)
  if (url.protocol !== 'http:') throw new Error(`--listen-client-urls: ${text}: skiff's etcd speaks http alone`)
  const hosts = LOOPBACK_OF_WILDCARD[url.hostname] ?? [url.hostname]
  if (!hosts.every(isLoopback)) throw new Error(`--listen-client-urls: ${text}: skiff's etcd listens on loopback alone`)
  return hosts.map((hostname) => Object.assign(new URL(url), { hostname }))
}

async function serve(urls: readonly URL[], { shell, parent }: Ancestors): Promise<void> {
  const place = (): EtcdPlace => ({
    node: process.pid,
    shell: shell as number,
    ...(parent === undefined ? {} : { parent }),
    addresses: servers.map((server) => {
      const { address, port } = server.address() as AddressInfo
      return { host: address, port }
    }),
  })
  const handOver: EtcdPortOptions = {
    place: () => JSON.stringify(place()),
    // A kube-apiserver that attaches itself may say so: the port is not let go before it is seen to be held.
    isHeld: () => servers.every((server) => isHeldBeside(server.address() as AddressInfo)),
    onHandedOver(connections) {
      for (const server of servers) server.close()
      if (connections > 0) return
      // Now: the shell has to have read it when this process ends.
      writeSync(1, TO_SHELL)
      process.exit(0)
    },
  }
  const canHandOver = shell !== undefined && process.platform === 'linux'
  const port = createEtcdPort(ETCD_PAGES, canHandOver ? handOver : {})
  const servers: Server[] = []
  for (const url of urls) {
    try {
      servers.push(await listening(port, url, canHandOver))
    } catch (error) {
      fail(`cannot listen on ${url.host}: ${messageOf(error)}`, 1)
    }
  }
}

/** One that was stopped lets its port go a moment after it has ended. @throws when another listens there */
async function listenAlone(port: EtcdPort, host: string, number: number): Promise<Server> {
  for (let left = GOING_MS / AGAIN_MS; ; left--)
    try {
      return await listenOn(port.server(), host, number, { exclusive: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || left <= 0) throw error
      // There is nothing else to do yet, and nothing that would keep this process alive meanwhile.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS)
    }
}

/** @throws when another listens there */
async function listening(port: EtcdPort, url: URL, shared: boolean): Promise<Server> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const number = Number(url.port || 80)
  if (!shared) return listenAlone(port, host, number)
  const turn = await turnAt(url.host)
  try {
    // One that may be shared does not say that it is: hence alone first. Connections that came meanwhile are answered.
    const alone = await listenAlone(port, host, number)
    alone.close()
    const server = await listenOn(port.server(), host, number, { exclusive: true, reusePort: true })
    if (isHeldBeside(server.address() as AddressInfo)) throw new Error(`address already in use ${url.host}`)
    return server
  } finally {
    turn.close()
  }
}

/**
 * Of the etcds that begin at once at one address one has its turn, until it listens there for good: by a socket whose name no other can
 * have meanwhile, and which ends with its process. On Linux. @throws when another has it
 */
async function turnAt(address: string): Promise<Server> {
  const turn = createServer().listen({ path: `\0skiff etcd ${address}` })
  try {
    await once(turn, 'listening')
  } catch (error) {
    throw new Error(`address already in use ${address}`, { cause: error })
  }
  return turn
}
