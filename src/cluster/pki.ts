/**
 * The cluster's keys and certificates in DIR/pki, under the names kubeadm gives them: made at the first start, read at the
 * next ones, renewed when they come near their end. Directory mode 0700, keys 0600.
 */
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { getOrInsertComputed } from '../base/get-or-insert.ts'
import { makeDirectory } from '../base/make-directory.ts'
import type { Runtime } from '../base/runtime.ts'
import {
  type CertificateRequest,
  issue,
  type KeyAndCertificate,
  stillGood,
  type WantedCertificate,
} from './certificate.ts'
import { StartError } from './errors.ts'
import { type Issuer, readIssuer } from './issuer.ts'

export interface Pki {
  readonly ca: KeyAndCertificate
  /** What an authenticating proxy is known by: an authority of its own, so that no user's client certificate is a proxy's. */
  readonly frontProxy: { readonly ca: KeyAndCertificate; readonly client: KeyAndCertificate }
  readonly serving: KeyAndCertificate
  readonly admin: KeyAndCertificate
  /** The API server's client certificate for kubelets: KUBELET_CLIENT, in no group. */
  readonly kubeletClient: KeyAndCertificate
  /** Signs service account tokens: PEM. */
  readonly serviceAccount: { readonly privateKey: string; readonly publicKey: string }
  /** The certificate of a user of this cluster, from `DIR/pki/<file>.crt`, made when it is not there, near its end or of other groups. */
  client(file: string, user: string, groups: readonly string[]): KeyAndCertificate
}

/** The user that kubelets see when this server asks them. What it may do there, a ClusterRoleBinding says. */
export const KUBELET_CLIENT = 'kube-apiserver-kubelet-client'
const AUTHORITY_DAYS = 3650
const CERTIFICATE_DAYS = 365
const RENEW_DAYS = 30

/** When the first of those ends that are judged by the server's time: milliseconds since the epoch. */
export function firstEnd({ ca, frontProxy, admin, kubeletClient }: Pki): number {
  const judged = [ca, frontProxy.ca, frontProxy.client, admin, kubeletClient]
  return Math.min(...judged.map(({ cert }) => new X509Certificate(cert).validToDate.getTime()))
}

/** Servers and clients that judge certificates may have different times. */
export interface CertificateTimes {
  /** The latest of their times; the earliest is the runtime's. */
  readonly latest?: () => number
  readonly certificateDays?: number
}

/** What moves the time by which certificates are judged moves it far. */
export const MOVED_CERTIFICATE_DAYS = 3600

function servingHosts(host: string, addresses: readonly string[]): string[] {
  const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc']
  const all = [...names, 'kubernetes.default.svc.cluster.local', '127.0.0.1', '::1', ...addresses]
  return all.includes(host) || host === '0.0.0.0' || host === '::' ? all : [...all, host]
}

/**
 * Without a directory they are kept nowhere. `addresses`: that of the kubernetes Service, and those at which pods reach this server.
 * @throws StartError when a file is there but unreadable or not what its name says
 */
export function loadPki(
  runtime: Runtime,
  directory: string | undefined,
  host: string,
  addresses: readonly string[],
  { latest = runtime.clock.now, certificateDays = CERTIFICATE_DAYS }: CertificateTimes = {},
): Pki {
  if (directory !== undefined) makeDirectory(directory)
  const authority = (file: string, commonName: string, pathLength?: number) =>
    pair(latest, directory, file, undefined, { days: 1 }, () =>
      issue(runtime, {
        commonName,
        usage: 'ca',
        validDays: AUTHORITY_DAYS,
        ...(pathLength === undefined ? {} : { pathLength }),
      }),
    )
  const ca = authority('ca', 'kubernetes')
  // What it may say is told by its signer, so no other authority may sign in its name.
  const frontProxyCa = authority('front-proxy-ca', 'front-proxy-ca', 0)
  const hosts = servingHosts(host, addresses)
  const issuers = new Map<KeyAndCertificate, Issuer>()
  const signedBy = (signer: KeyAndCertificate, request: CertificateRequest) =>
    issue(
      runtime,
      request,
      getOrInsertComputed(issuers, signer, () => readIssuer(signer)),
    )
  const clientOf = (signer: KeyAndCertificate, file: string, user: string, groups: readonly string[]) =>
    pair(latest, directory, file, signer, { days: RENEW_DAYS, groups }, () =>
      signedBy(signer, { commonName: user, organizations: groups, usage: 'client', validDays: certificateDays }),
    )
  const client: Pki['client'] = (file, user, groups) => clientOf(ca, file, user, groups)
  return {
    ca,
    frontProxy: {
      ca: frontProxyCa,
      client: clientOf(frontProxyCa, 'front-proxy-client', 'front-proxy-client', []),
    },
    serving: pair(latest, directory, 'apiserver', ca, { days: RENEW_DAYS, hosts }, () =>
      signedBy(ca, { commonName: 'kube-apiserver', usage: 'server', hosts, validDays: certificateDays }),
    ),
    admin: client('admin', 'kubernetes-admin', ['system:masters']),
    kubeletClient: client('apiserver-kubelet-client', KUBELET_CLIENT, []),
    serviceAccount: serviceAccountKey(directory),
    client,
  }
}

function pair(
  latest: () => number,
  directory: string | undefined,
  name: string,
  ca: KeyAndCertificate | undefined,
  wanted: WantedCertificate,
  make: () => KeyAndCertificate,
): KeyAndCertificate {
  if (directory === undefined) return make()
  const certFile = join(directory, `${name}.crt`)
  const keyFile = join(directory, `${name}.key`)
  if (existsSync(certFile) && existsSync(keyFile)) {
    const found = { cert: read(certFile), key: read(keyFile) }
    try {
      if (stillGood(latest(), found, (ca ?? found).cert, wanted)) return found
    } catch (error) {
      throw new StartError(`${certFile} is not usable: ${messageOf(error)}`, { cause: error })
    }
    if (ca === undefined) throw new StartError(`${certFile} has expired or does not fit its key; it is not replaced`)
  }
  const made = make()
  write(keyFile, made.key, 0o600)
  write(certFile, made.cert, 0o644)
  return made
}

function serviceAccountKey(directory: string | undefined): Pki['serviceAccount'] {
  const file = join(directory ?? '', 'sa.key')
  if (directory !== undefined && existsSync(file)) {
    const privateKey = read(file)
    try {
      return { privateKey, publicKey: publicPem(privateKey) }
    } catch (error) {
      throw new StartError(`${file} is not usable: ${messageOf(error)}`, { cause: error })
    }
  }
  const privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
  const publicKey = publicPem(privateKey)
  if (directory !== undefined) {
    write(file, privateKey, 0o600)
    write(join(directory, 'sa.pub'), publicKey, 0o644)
  }
  return { privateKey, publicKey }
}

function publicPem(privateKey: string): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString()
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartError(`cannot read ${file}: ${messageOf(error)}`, { cause: error })
  }
}

/** Whole or not at all: a start that is killed leaves no half file behind. */
export function write(file: string, text: string, mode: number): void {
  writeFileSync(`${file}.new`, text, { mode })
  renameSync(`${file}.new`, file)
}
