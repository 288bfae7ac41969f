/**
 * Certificates of pods (KEP-4317): for each podCertificate source of a projected volume the node makes a key, asks for its certificate by
 * a PodCertificateRequest, and takes what the signer issues. They are renewed from the time that the signer names. The key never leaves
 * the node. What is asked for is looked at whenever the volume is set up, which is tried again until the certificate is there.
 */
import { generateKeyPair, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { Node, PodCertificateProjection, PodCertificateRequest } from '../api/generated/types.ts'
import { isNotFound } from '../api/status.ts'
import { bitString, derInteger, objectIdentifier, sequence, tagged } from '../base/der.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { nameOf, namespaceOf, type Pod, specOf, uidOf } from './pod.ts'
import type { PodEvents } from './pod-events.ts'

export interface PodCredentials {
  /** PEM: PKCS #8. */
  readonly key: string
  /** PEM: the pod's certificate, and those between it and the signer's root. */
  readonly chain: string
}

export interface PodCertificates {
  /** `place` names the source among those of the pod. @throws Error while nothing is issued, or when it was refused */
  credentials(pod: Pod, place: string, source: PodCertificateProjection): Promise<PodCredentials>
  forget(uid: string): void
}

export interface PodCertificatesOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'random'>
  readonly client: Client
  readonly events: PodEvents
  readonly nodeName: string
  readonly node: () => Node | undefined
}

interface Issued extends PodCredentials {
  /** Milliseconds since the epoch. */
  readonly refreshAt: number
  readonly notAfter: number
  readonly told: Set<string>
}

interface Asked {
  readonly name: string
  readonly key: string
  /** A request that cannot be found after this was deleted. */
  readonly abandonAt: number
}

interface Place {
  issued?: Issued | undefined
  asked?: Asked | undefined
  refused?: string | undefined
}

const REQUESTS = { group: 'certificates.k8s.io', version: 'v1', resource: 'podcertificaterequests' }
const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }
const PATIENCE_MS = 600_000
/** Of many pods that began together not all renew at once. */
const JITTER_MS = 300_000

export function createPodCertificates(options: PodCertificatesOptions): PodCertificates {
  const { client, events, nodeName } = options
  const { clock, random } = options.runtime
  const places = new Map<string, Map<string, Place>>()
  const jitter = () => random.float() * JITTER_MS

  async function ask(pod: Pod, source: PodCertificateProjection): Promise<Asked> {
    const namespace = namespaceOf(pod)
    const account = specOf(pod).serviceAccountName ?? 'default'
    const { metadata } = await client.resource(ACCOUNTS).namespace(namespace).get(account)
    const { key, request } = await keyAndRequest(source.keyType ?? '')
    const { signerName = '', maxExpirationSeconds, userAnnotations } = source
    const object: PodCertificateRequest = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'PodCertificateRequest',
      metadata: {
        generateName: 'req-',
        namespace,
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: nameOf(pod), uid: uidOf(pod) }],
      },
      spec: {
        signerName,
        podName: nameOf(pod),
        podUID: uidOf(pod),
        serviceAccountName: account,
        serviceAccountUID: metadata.uid ?? '',
        nodeName,
        nodeUID: options.node()?.metadata.uid ?? '',
        stubPKCS10Request: request.toString('base64'),
        ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }),
        ...(userAnnotations === undefined ? {} : { unverifiedUserAnnotations: userAnnotations }),
      },
    }
    const made = await client.resource<PodCertificateRequest>(REQUESTS).namespace(namespace).create(object)
    return { name: made.metadata.name ?? '', key, abandonAt: clock.now() + PATIENCE_MS + jitter() }
  }

  /** What became of the request. */
  async function look(pod: Pod, place: Place, asked: Asked): Promise<void> {
    const namespace = namespaceOf(pod)
    let request: PodCertificateRequest
    try {
      request = await client.resource<PodCertificateRequest>(REQUESTS).namespace(namespace).get(asked.name)
    } catch (error) {
      if (isNotFound(error) && clock.now() > asked.abandonAt) place.asked = undefined
      throw error
    }
    const { conditions = [], certificateChain = '', beginRefreshAt = '', notAfter = '' } = request.status ?? {}
    const outcome = conditions.find(({ type }) => ['Issued', 'Denied', 'Failed'].includes(type))
    if (outcome === undefined) return
    place.asked = undefined
    if (outcome.type === 'Issued') {
      place.issued = {
        key: asked.key,
        chain: certificatesOf(certificateChain),
        refreshAt: Date.parse(beginRefreshAt) + jitter(),
        notAfter: Date.parse(notAfter),
        told: new Set(),
      }
      return
    }
    const { type, reason, message } = outcome
    const why = `reason=${JSON.stringify(reason)} message=${JSON.stringify(message)}`
    place.refused = `PodCertificateRequest was permanently ${type.toLowerCase()}: ${why}`
    events.warning(pod, type, `PodCertificateRequest ${namespace}/${asked.name} ${type.toLowerCase()}, ${why}`)
  }

  function tellOfAge(pod: Pod, { refreshAt, notAfter, told }: Issued): void {
    const tell = (reason: string, message: string, from: number) => {
      if (clock.now() < from || told.has(reason)) return
      told.add(reason)
      events.warning(pod, reason, message)
    }
    tell('CertificateOverdueForRefresh', 'PodCertificate refresh overdue', refreshAt + PATIENCE_MS)
    tell('CertificateExpired', 'PodCertificate expired', notAfter)
  }

  return {
    async credentials(pod, at, source) {
      const own = places.get(uidOf(pod)) ?? new Map<string, Place>()
      places.set(uidOf(pod), own)
      const place = own.get(at) ?? {}
      own.set(at, place)
      if (place.refused !== undefined) throw new Error(place.refused)
      const { issued } = place
      if (issued !== undefined && clock.now() < issued.refreshAt) return issued
      if (issued !== undefined) tellOfAge(pod, issued)
      try {
        place.asked ??= await ask(pod, source)
        await look(pod, place, place.asked)
      } catch (error) {
        // What was issued before serves on.
        if (place.issued === undefined) throw error
      }
      if (place.refused !== undefined) throw new Error(place.refused)
      if (place.issued === undefined) throw new Error('credential bundle is not issued yet')
      return place.issued
    },
    forget: (uid) => void places.delete(uid),
  }
}

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** The certificates alone, without what stands before, between or within their blocks. */
function certificatesOf(chain: string): string {
  return [...chain.matchAll(BLOCK)]
    .map(([block]) => {
      const lines = block.split(/\r?\n/)
      // A block's headers are lines with a colon, which base64 has not.
      return `${lines.filter((line) => line !== '' && !line.includes(':')).join('\n')}\n`
    })
    .join('')
}

const generate = promisify(generateKeyPair)
const SHA = { 256: '1.2.840.10045.4.3.2', 384: '1.2.840.10045.4.3.3', 512: '1.2.840.10045.4.3.4' } as const
const RSA_WITH_SHA256 = sequence(objectIdentifier('1.2.840.113549.1.1.11'), Buffer.from([5, 0]))
const ED25519 = sequence(objectIdentifier('1.3.101.112'))

/** @throws Error for a type that the API does not have */
async function keyPair(type: string): Promise<{ publicKey: KeyObject; privateKey: KeyObject; hash: 256 | 384 | 512 }> {
  switch (type) {
    case 'RSA3072':
      return { ...(await generate('rsa', { modulusLength: 3072 })), hash: 256 }
    case 'RSA4096':
      return { ...(await generate('rsa', { modulusLength: 4096 })), hash: 256 }
    case 'ECDSAP256':
      return { ...(await generate('ec', { namedCurve: 'P-256' })), hash: 256 }
    case 'ECDSAP384':
      return { ...(await generate('ec', { namedCurve: 'P-384' })), hash: 384 }
    case 'ECDSAP521':
      return { ...(await generate('ec', { namedCurve: 'P-521' })), hash: 512 }
    case 'ED25519':
      return { ...(await generate('ed25519')), hash: 512 }
    default:
      throw new Error(`unknown key type ${JSON.stringify(type)}`)
  }
}

/** A new key, and a request for it (PKCS #10) that proves possession of the key, and says nothing else. */
async function keyAndRequest(type: string): Promise<{ readonly key: string; readonly request: Buffer }> {
  const { publicKey, privateKey, hash } = await keyPair(type)
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const info = sequence(derInteger(Buffer.alloc(1)), sequence(), key, tagged(0, Buffer.alloc(0)))
  const kind = privateKey.asymmetricKeyType
  const algorithm =
    kind === 'rsa' ? RSA_WITH_SHA256 : kind === 'ed25519' ? ED25519 : sequence(objectIdentifier(SHA[hash]))
  const signature = sign(kind === 'ed25519' ? null : `sha${hash}`, info, privateKey)
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    request: sequence(info, algorithm, bitString(signature)),
  }
}
