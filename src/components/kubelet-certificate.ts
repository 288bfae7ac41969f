/**
 * A kubelet's certificates (API concept: TLS bootstrapping), each asked for by a CertificateSigningRequest, kept in --cert-dir, and
 * renewed before it expires: the client certificate, first with the bootstrap kubeconfig's credentials, of the signer
 * kubernetes.io/kube-apiserver-client-kubelet, which the controllers approve; the one that its server shows, of
 * kubernetes.io/kubelet-serving, which only an administrator approves, or a controller that an administrator runs for it.
 */
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { CertificateSigningRequest } from '../api/generated/types.ts'
import { isNotFound, isUnauthorized } from '../api/status.ts'
import { type Clock, sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { makeDirectory } from '../base/make-directory.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { statusOf } from '../client/response.ts'
import { certificateRequest, type KeyAndCertificate } from '../cluster/certificate.ts'
import { write } from '../cluster/pki.ts'
import { isUntrusted } from './access.ts'

export interface KubeletCertificate {
  readonly purpose: 'client' | 'serving'
  readonly nodeName: string
  readonly directory: string
  /** The node asks for it once alone: then it is named by what it asks for, as kubelet has it without --rotate-certificates. */
  readonly isAskedForOnce?: boolean
  /** Addresses and names of a serving one. */
  readonly hosts?: readonly string[]
  /** The client speaks by a bootstrap kubeconfig, whose token does not last. */
  readonly isBootstrap?: boolean
}

const REQUESTS = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' }
const SIGNERS = {
  client: { signer: 'kubernetes.io/kube-apiserver-client-kubelet', usage: 'client auth' },
  serving: { signer: 'kubernetes.io/kubelet-serving', usage: 'server auth' },
} as const
const FILES = { client: 'kubelet-client-current.pem', serving: 'kubelet-server-current.pem' } as const
/** A request is looked at after this, and then after twice as long each time, up to the other. */
const FIRST_LOOK_MS = 250
const LATER_LOOKS_MS = 5000
/** How long a request may wait for its approval. Then another is made. */
const PATIENCE_MS = 15 * 60_000
/** After one that failed another is made after this, then after twice as long each time, up to the other. */
const FIRST_RETRY_MS = 2000
const LATER_RETRIES_MS = 32_000
/** The clock may be set meanwhile, and timers of machines hold 24 days at most. */
const LONGEST_WAIT_MS = 300_000

/** The certificate with its key, in one file, as kubelet names it. */
export const certificateFile = (directory: string, purpose: KubeletCertificate['purpose'] = 'client'): string =>
  join(directory, FILES[purpose])

/** When the certificate in the file ends, in milliseconds since the epoch; undefined where there is none that can be used now. */
export const usableUntil = (file: string, nodeName: string, clock: Clock): number | undefined => {
  const certificate = certificateIn(file, nodeName, clock)
  return certificate?.validToDate.getTime()
}

/** The node that the certificate in the file names, whether or not it has run out. */
export const nodeOfCertificate = (file: string): string | undefined => nodeNamedIn(readCertificate(file))

const nodeNamedIn = (certificate: X509Certificate | undefined): string | undefined =>
  /^CN=system:node:(.+)$/m.exec(certificate?.subject ?? '')?.[1]

function certificateIn(file: string, nodeName: string, clock: Clock): X509Certificate | undefined {
  const certificate = readCertificate(file)
  const isOurs = nodeNamedIn(certificate) === nodeName
  return isOurs && (certificate?.validToDate.getTime() ?? 0) > clock.now() ? certificate : undefined
}

function readCertificate(file: string): X509Certificate | undefined {
  if (!existsSync(file)) return undefined
  try {
    return new X509Certificate(readFileSync(file))
  } catch {
    return undefined
  }
}

/** What there is and can be used now, one file as both. */
export function keptPair(
  { purpose, nodeName, directory }: KubeletCertificate,
  clock: Clock,
): KeyAndCertificate | undefined {
  const file = certificateFile(directory, purpose)
  if (certificateIn(file, nodeName, clock) === undefined) return undefined
  const text = readFileSync(file, 'utf8')
  return { cert: text, key: text }
}

/**
 * Asks for a certificate until there is one, and writes it.
 *
 * @throws Error in one line where the request is denied, fails or is deleted, or nothing came of it in a quarter of an hour
 */
export async function obtainCertificate(
  runtime: Runtime,
  client: Client,
  { purpose, nodeName, directory, hosts = [], isAskedForOnce = false, isBootstrap = false }: KubeletCertificate,
  signal: AbortSignal,
): Promise<void> {
  const { signer, usage } = SIGNERS[purpose]
  const { request, key } = certificateRequest({
    commonName: `system:node:${nodeName}`,
    organizations: ['system:nodes'],
    // Names first, as kubelet has them.
    hosts: hosts.toSorted((a, b) => Math.sign(isIP(a)) - Math.sign(isIP(b))),
  })
  const requests = client.resource<CertificateSigningRequest>(REQUESTS)
  const made = requests.create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: isAskedForOnce
      ? { name: `node-csr-${createHash('sha256').update(request).digest('base64url')}` }
      : { generateName: 'csr-' },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: signer,
      usages: ['digital signature', usage],
    },
  })
  const { metadata } = await made.catch((cause: unknown) => {
    throw credentialsRefused(cause, isBootstrap) ?? cause
  })
  const name = metadata.name ?? ''
  const until = runtime.machineClock.monotonic() + PATIENCE_MS
  for (let wait = FIRST_LOOK_MS; ; wait = Math.min(wait * 2, LATER_LOOKS_MS)) {
    const { status } = await look(name, isBootstrap, () => requests.get(name))
    const refused = status?.conditions?.find(({ type, status }) => type !== 'Approved' && status === 'True')
    if (refused !== undefined)
      throw new Error(`the request ${name} for the node's certificate is ${refused.type}: ${refused.message ?? ''}`)
    if (status?.certificate) {
      const cert = `${Buffer.from(status.certificate, 'base64')}`
      if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
        throw new Error(`the certificate of the request ${name} is of another key`)
      makeDirectory(directory)
      write(certificateFile(directory, purpose), `${cert}${key}`, 0o600)
      return
    }
    if (runtime.machineClock.monotonic() > until) {
      const isApproved = status?.conditions?.some(({ type }) => type === 'Approved') === true
      const why = isApproved
        ? `was approved, but ${signer} has not signed it`
        : `is not approved: kubectl certificate approve ${name}`
      throw new Error(`the request ${name} for the node's certificate ${why}`)
    }
    await sleep(runtime.machineClock, wait, signal)
  }
}

function credentialsRefused(cause: unknown, isBootstrap: boolean): Error | undefined {
  if (!isUnauthorized(cause)) return undefined
  const why = isBootstrap
    ? ': a bootstrap token that has been deleted or has expired gives none; skiff token create makes another'
    : ''
  return new Error(
    `the API server does not know any more who asks for the node's certificate (401 Unauthorized)${why}`,
    { cause },
  )
}

/** An API server that does not answer for a while is no reason to ask for another certificate. */
async function look(
  name: string,
  isBootstrap: boolean,
  get: () => Promise<CertificateSigningRequest>,
): Promise<Pick<CertificateSigningRequest, 'status'>> {
  try {
    return await get()
  } catch (cause) {
    if (isNotFound(cause)) throw new Error(`the request ${name} for the node's certificate was deleted`, { cause })
    if (isUntrusted(cause))
      throw new Error(
        `the API server's certificate is not to be trusted: ${messageOf(cause)}; another server may have taken its place while the request ${name} waited`,
        { cause },
      )
    const status = statusOf(cause)
    if (status !== undefined && (status.code ?? 0) < 500 && status.code !== 429)
      throw credentialsRefused(cause, isBootstrap) ?? cause
    return {}
  }
}

export interface Rotation extends KubeletCertificate {
  readonly runtime: Runtime
  /** Speaks by the certificate that there is. */
  readonly client: Client
  readonly signal: AbortSignal
  complain(line: string): void
  /** Told of each new certificate; undefined: the one there was has run out. */
  show?(pair: KeyAndCertificate | undefined): void
}

/**
 * Asks for the certificate if there is none that can be used, or if it lacks some of `hosts`, and renews it between 70 and 90 percent of
 * its time, as kubelet does; connections follow the file. Ends with the signal.
 */
export async function keepCertificate(rotation: Rotation): Promise<void> {
  const { runtime, client, signal, complain } = rotation
  const { clock, machineClock } = runtime
  let isWithdrawn = false
  for (let wait = FIRST_RETRY_MS; !signal.aborted; ) {
    const due = dueTime(rotation)
    // The clock was set back.
    const kept = isWithdrawn ? keptPair(rotation, clock) : undefined
    if (kept !== undefined) {
      isWithdrawn = false
      rotation.show?.(kept)
    }
    try {
      for (let rest = due - clock.now(); rest > 0; rest = due - clock.now())
        await sleep(machineClock, Math.min(rest, LONGEST_WAIT_MS), signal)
      await obtainCertificate(runtime, client, rotation, signal)
      wait = FIRST_RETRY_MS
      isWithdrawn = false
      rotation.show?.(keptPair(rotation, clock))
    } catch (error) {
      if (signal.aborted) return
      const what = rotation.purpose === 'client' ? 'certificate' : "server's certificate"
      complain(`the node's ${what} was not renewed: ${messageOf(error)}; trying again`)
      if (keptPair(rotation, clock) === undefined) {
        isWithdrawn = true
        rotation.show?.(undefined)
      }
      await sleep(machineClock, wait, signal).catch(() => {})
      wait = Math.min(wait * 2, LATER_RETRIES_MS)
    }
  }
}

/** In milliseconds since the epoch; 0: at once. */
function dueTime({ runtime, purpose, nodeName, directory, hosts = [] }: Rotation): number {
  const certificate = certificateIn(certificateFile(directory, purpose), nodeName, runtime.clock)
  if (certificate === undefined) return 0
  const isFor = (host: string) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host))
  if (!hosts.every((host) => isFor(host) !== undefined)) return 0
  const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()]
  return from + (to - from) * (0.7 + 0.2 * runtime.random.float())
}
