/** skiff token: bootstrap tokens, by which machines join a cluster. */

import { readFileSync } from 'node:fs'
import { GoDurationError, parseGoDuration } from '../base/go-duration.ts'
import { holdProcess } from '../base/live-clock.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { isLoopback } from '../base/loopback.ts'
import { plainLine } from '../base/plain-text.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { httpsTransport } from '../client/https-transport.ts'
import { endpointFromKubeconfig } from '../client/read-kubeconfig.ts'
import { createClient } from '../client/transport.ts'

import { clusterDirectory, holder, readState } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'
import { readToken, tokenText } from '../cluster/join/bootstrap-token.ts'
import { authorityHash } from '../cluster/join/discovery.ts'
import { createBootstrapToken, deleteToken, listTokens, type Meeting } from '../cluster/join/tokens.ts'

export interface TokenOptions {
  readonly dataDir: string
  readonly ttl: string
  readonly description?: string
}

/** Prints the command that joins a machine; it holds the token. */
export async function tokenCreate({ dataDir, ttl, description }: TokenOptions): Promise<void> {
  const ttlMs = milliseconds(ttl)
  await asAdministrator(dataDir, async (client, runtime, meeting) => {
    const wish = { ttlMs: ttlMs === 0 ? undefined : ttlMs, ...(description === undefined ? {} : { description }) }
    const token = await createBootstrapToken(runtime, client, meeting, wish)
    if (isLoopback(new URL(meeting.server).hostname))
      process.stderr.write(
        `skiff: ${meeting.server} can be reached from this machine alone: start the cluster with --bind-address IP for others\n`,
      )
    process.stdout.write(
      `skiff join ${meeting.server} --token ${tokenText(token)} --discovery-token-ca-cert-hash ${authorityHash(meeting.ca)}\n`,
    )
  })
}

export async function tokenList(dataDir: string): Promise<void> {
  await asAdministrator(dataDir, async (client) => {
    const tokens = await listTokens(client)
    if (tokens.length === 0) process.stderr.write('there are no tokens: skiff token create makes one\n')
    for (const { id, expires, description } of tokens)
      process.stdout.write(
        `${plainLine(`${id}  ${expires ?? 'never expires'.padEnd(20)}  ${description}`).trimEnd()}\n`,
      )
  })
}

/** `token`: whole, or its id. */
export async function tokenDelete(dataDir: string, token: string): Promise<void> {
  const id = /^[a-z0-9]{6}$/.test(token) ? token : readToken(token).id
  await asAdministrator(dataDir, (client) => deleteToken(client, id))
}

async function asAdministrator(
  dataDir: string,
  act: (client: Client, runtime: Runtime, meeting: Meeting) => Promise<void>,
): Promise<void> {
  const directory = clusterDirectory(dataDir)
  const state = readState(directory)
  if (holder(directory) === undefined || state === undefined)
    throw new StartError(`no cluster runs in ${directory.path}: skiff up starts one`)
  const endpoint = endpointFromKubeconfig(readFileSync(directory.kubeconfig, 'utf8'))
  const runtime = liveRuntime()
  const transport = httpsTransport({ ...endpoint, server: state.url })
  // No timer of ours keeps a process alive.
  const release = holdProcess()
  try {
    const client = createClient(runtime, transport, { userAgent: 'skiff' })
    await act(client, runtime, { server: state.advertised ?? state.url, ca: endpoint.ca ?? '' })
  } finally {
    release()
    transport.close()
  }
}

function milliseconds(ttl: string): number {
  try {
    const ms = Number(parseGoDuration(ttl) / 1_000_000n)
    if (ms < 0) throw new StartError('--ttl must not be negative; 0 is for ever')
    return ms
  } catch (error) {
    if (!(error instanceof GoDurationError)) throw error
    throw new StartError(`--ttl ${ttl} is no duration: write such as 24h; 0 is for ever`)
  }
}
