/**
 * A kubelet's client certificate (API concept: TLS bootstrapping): asked for with the bootstrap kubeconfig's credentials by a
 * CertificateSigningRequest of the signer kubernetes.io/kube-apiserver-client-kubelet, kept in --cert-dir, and renewed before it expires.
 */
import { createHash, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CertificateSigningRequest } from '../api/generated/types.ts'
import { type Clock, sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { certificateRequest } from '../cluster/certificate.ts'
import { makeDirectory } from '../cluster/make-directory.ts'
import { write } from '../cluster/pki.ts'

const REQUESTS = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' }
const SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet'
const LOOK_AGAIN_MS = 250
/** How long a request may wait for its approval. */
const PATIENCE_MS = 15 * 60_000
const RETRY_MS = 60_000

/** The certificate with its key, in one file, as kubelet names it. */
export const certificateFile = (directory: string): string => join(directory, 'kubelet-client-current.pem')

/** When the certificate in the file ends, in milliseconds since the epoch; undefined where there is none that can be used now. */
export function usableUntil(file: string, nodeName: string, clock: Clock): number | undefined {
  if (!existsSync(file)) return undefined
  try {
    const certificate = new X509Certificate(readFileSync(file))
    const isOurs = certificate.subject.split('\n').includes(`CN=system:node:${nodeName}`)
    const until = certificate.validToDate.getTime()
    return isOurs && until > clock.now() ? until : undefined
  } catch {
    return undefined
  }
}

/** Asks for a certificate until there is one, and writes it. @throws Error in one line where the request is denied or fails */
export async function obtainCertificate(
  runtime: Runtime,
  client: Client,
  nodeName: string,
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  const { request, key } = certificateRequest({
    commonName: `system:node:${nodeName}`,
    organizations: ['system:nodes'],
  })
  const name = `node-csr-${createHash('sha256').update(request).digest('hex')}`
  const requests = client.resource<CertificateSigningRequest>(REQUESTS)
  await requests.create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: SIGNER,
      usages: ['digital signature', 'client auth'],
    },
  })
  const until = runtime.machineClock.monotonic() + PATIENCE_MS
  for (;;) {
    const { status } = await requests.get(name)
    const refused = status?.conditions?.find(({ type, status }) => type !== 'Approved' && status === 'True')
    if (refused !== undefined)
      throw new Error(`the request ${name} for the node's certificate is ${refused.type}: ${refused.message ?? ''}`)
    if (status?.certificate !== undefined) {
      makeDirectory(directory)
      write(certificateFile(directory), `${Buffer.from(status.certificate, 'base64')}${key}`, 0o600)
      return
    }
    if (runtime.machineClock.monotonic() > until)
      throw new Error(
        `the request ${name} for the node's certificate is not approved: kubectl certificate approve ${name}`,
      )
    await sleep(runtime.machineClock, LOOK_AGAIN_MS, signal)
  }
}

export interface Rotation {
  readonly runtime: Runtime
  /** Speaks by the certificate that there is. */
  readonly client: Client
  readonly nodeName: string
  readonly directory: string
  readonly signal: AbortSignal
  complain(line: string): void
}

/** Renews the certificate between 70 and 90 percent of its time, as kubelet does; connections follow the file. Ends with the signal. */
export async function keepCertificate(rotation: Rotation): Promise<void> {
  const { runtime, client, nodeName, directory, signal, complain } = rotation
  while (!signal.aborted) {
    const { validFromDate, validToDate } = new X509Certificate(readFileSync(certificateFile(directory)))
    const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
    const due = from + (to - from) * (0.7 + 0.2 * runtime.random.float())
    try {
      // Timers of machines hold 24 days at most.
      for (let rest = due - runtime.clock.now(); rest > 0; rest = due - runtime.clock.now())
        await sleep(runtime.machineClock, Math.min(rest, 86_400_000), signal)
      await obtainCertificate(runtime, client, nodeName, directory, signal)
    } catch (error) {
      if (signal.aborted) return
      complain(`the node's certificate was not renewed: ${messageOf(error)}; trying again`)
      await sleep(runtime.machineClock, RETRY_MS, signal).catch(() => {})
    }
  }
}
