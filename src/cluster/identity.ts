/**
 * The certificates of this API server, those that it trusts, and how it signs tokens: the cluster's own keys (pki.ts), or what an
 * administrator names instead, read from the files and refused with a reason.
 */
import { createPrivateKey } from 'node:crypto'
import { DEFAULT_FRONT_PROXIES, type FrontProxies } from '../apiserver/auth/front-proxies.ts'
import { type JwtKey, jwtKey, type VerificationKey, verificationKeys } from '../apiserver/auth/jwt.ts'
import type { ServiceAccountKeys } from '../apiserver/auth/service-account-tokens.ts'
import { messageOf } from '../base/errors.ts'
import type { KeyAndCertificate } from './certificate.ts'
import { StartError } from './errors.ts'
import { authorities, keyPair } from './pem-files.ts'
import type { Pki } from './pki.ts'
import { fromFile, readText } from './read-file.ts'

/** Named after kube-apiserver's flags. What they name is PEM. */
export interface IdentityFlags {
  /** The certificate that is served, with those between it and its authority. Default: the cluster's own. */
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  /** Authorities of client certificates, besides the cluster's own. */
  readonly clientCaFile?: string
  /** Tokens are issued in the name of the first, and believed of all. Default: as in kubeadm's clusters. */
  readonly serviceAccountIssuer?: readonly string[]
  /** Public keys, private keys or certificates whose tokens are believed. Default: the signing key. */
  readonly serviceAccountKeyFile?: readonly string[]
  readonly serviceAccountSigningKeyFile?: string
  /** What tokens must be meant for. Default: the issuers. */
  readonly apiAudiences?: readonly string[]
  /** Where others find the keys that verify tokens, as the issuer's document says: https. Default: this server. */
  readonly serviceAccountJwksUri?: string
  /** Authorities of front proxies. Default: the cluster's own. */
  readonly requestheaderClientCaFile?: string
  /** Common names; given empty: any. Default: front-proxy-client. */
  readonly requestheaderAllowedNames?: readonly string[]
  readonly requestheaderUsernameHeaders?: readonly string[]
  readonly requestheaderUidHeaders?: readonly string[]
  readonly requestheaderGroupHeaders?: readonly string[]
  readonly requestheaderExtraHeadersPrefix?: readonly string[]
  /** This server's client certificate for aggregated API servers and webhooks. Default: a front proxy of the cluster's own authority. */
  readonly proxyClientCertFile?: string
  readonly proxyClientKeyFile?: string
}

export const IDENTITY_FLAGS: Readonly<Record<keyof IdentityFlags, true>> = {
  tlsCertFile: true,
  tlsPrivateKeyFile: true,
  clientCaFile: true,
  serviceAccountIssuer: true,
  serviceAccountKeyFile: true,
  serviceAccountSigningKeyFile: true,
  apiAudiences: true,
  serviceAccountJwksUri: true,
  requestheaderClientCaFile: true,
  requestheaderAllowedNames: true,
  requestheaderUsernameHeaders: true,
  requestheaderUidHeaders: true,
  requestheaderGroupHeaders: true,
  requestheaderExtraHeadersPrefix: true,
  proxyClientCertFile: true,
  proxyClientKeyFile: true,
}

export interface Identity {
  readonly serving: KeyAndCertificate
  /** PEM: what the certificate that is served is verified with. */
  readonly servingCa: string
  /** PEM bundles of the authorities of client certificates. */
  readonly clientCas: readonly string[]
  readonly serviceAccounts: ServiceAccountKeys
  readonly frontProxies: FrontProxies
  readonly proxyClient: KeyAndCertificate
  /** Data of ConfigMap kube-system/extension-apiserver-authentication: the authorities that extension servers are to trust. */
  readonly trust: Readonly<Record<string, string>>
}

/** The issuer of kubeadm clusters. */
export const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local'

/** @throws StartError with the flag or file and what is wrong with it */
export async function loadIdentity(flags: IdentityFlags, pki: Pki): Promise<Identity> {
  const served = servingPairOf(flags)
  const given = flags.clientCaFile === undefined ? [] : [authorities(flags.clientCaFile, 'client-ca-bundle')]
  const clientCas = [...given, pki.ca.cert]
  const frontProxies = frontProxiesOf(flags, pki)
  return {
    serving: served ?? pki.serving,
    servingCa: served === undefined ? pki.ca.cert : served.cert,
    clientCas,
    serviceAccounts: await serviceAccountKeys(flags, pki),
    frontProxies,
    proxyClient: proxyClientOf(flags) ?? pki.frontProxy.client,
    trust: {
      'client-ca-file': clientCas.map((pem) => (pem.endsWith('\n') ? pem : `${pem}\n`)).join(''),
      ...trustedProxies(flags, frontProxies),
    },
  }
}

function servingPairOf({ tlsCertFile: cert, tlsPrivateKeyFile: key }: IdentityFlags): KeyAndCertificate | undefined {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) throw new StartError('missing filename for serving cert')
  return keyPair(cert, key, { named: 'serving-cert' })
}

/** Of one without the other nothing is made, but what is named must be there. */
function proxyClientOf({ proxyClientCertFile: cert, proxyClientKeyFile: key }: IdentityFlags) {
  if (cert !== undefined && key !== undefined) return keyPair(cert, key)
  return undefined
}

function signingKeyOf(file: string): JwtKey {
  const prefix = 'failed to parse service-account-issuer-key-file: '
  const text = readText(file, (why) => `${prefix}${why}`)
  try {
    createPrivateKey(text)
  } catch (cause) {
    throw new StartError(
      `${prefix}error reading private key file ${file}: data does not contain a valid RSA or ECDSA private key`,
      { cause },
    )
  }
  try {
    return jwtKey(text)
  } catch (cause) {
    throw new StartError(`failed to build token generator: ${file}: ${messageOf(cause)}`, { cause })
  }
}

async function serviceAccountKeys(flags: IdentityFlags, pki: Pki): Promise<ServiceAccountKeys> {
  judgeKeysUri(flags.serviceAccountJwksUri)
  const { serviceAccountSigningKeyFile: signingFile, serviceAccountKeyFile: files, apiAudiences } = flags
  const [first, ...others] = flags.serviceAccountIssuer ?? [DEFAULT_ISSUER]
  for (const issuer of flags.serviceAccountIssuer ?? []) {
    if (issuer === '') throw new StartError('service-account-issuer cannot be an empty string')
    if (issuer.includes(':') && !URL.canParse(issuer))
      throw new StartError(`service-account-issuer "${issuer}" contained a ':' but was not a valid URL`)
  }
  if (files !== undefined && signingFile === undefined)
    throw new StartError('--service-account-key-file and --service-account-signing-key-file are given together')
  const signingKey = signingFile === undefined ? jwtKey(pki.serviceAccount.privateKey) : signingKeyOf(signingFile)
  const keys: VerificationKey[] = []
  for (const file of files ?? []) {
    const wrong = (why: string) => `error reading public key file ${file}: ${why}`
    keys.push(...(await fromFile(file, verificationKeys, { wrong })))
  }
  return {
    issuers: [first ?? DEFAULT_ISSUER, ...others],
    signingKey,
    keys: files === undefined ? [signingKey] : keys,
    ...(apiAudiences === undefined ? {} : { apiAudiences }),
  }
}

function judgeKeysUri(uri: string | undefined): void {
  if (uri === undefined) return
  if (/^:/.test(uri))
    throw new StartError(`service-account-jwks-uri must be a valid URL: parse "${uri}": missing protocol scheme`)
  if (!/^https:/i.test(uri)) throw new StartError(`service-account-jwks-uri requires https scheme, parsed as: ${uri}`)
}

function frontProxiesOf(flags: IdentityFlags, pki: Pki): FrontProxies {
  const { requestheaderClientCaFile: file } = flags
  const lower = (names: readonly string[] | undefined, usual: readonly string[]) =>
    names?.map((name) => name.trim().toLowerCase()) ?? usual
  const usual = DEFAULT_FRONT_PROXIES
  return {
    ca: file === undefined ? pki.frontProxy.ca.cert : authorities(file, 'request-header'),
    allowedNames: flags.requestheaderAllowedNames ?? (file === undefined ? usual.allowedNames : []),
    usernameHeaders: lower(flags.requestheaderUsernameHeaders, usual.usernameHeaders),
    uidHeaders: lower(flags.requestheaderUidHeaders, usual.uidHeaders),
    groupHeaders: lower(flags.requestheaderGroupHeaders, usual.groupHeaders),
    extraPrefixes: lower(flags.requestheaderExtraHeadersPrefix, usual.extraPrefixes),
  }
}

function trustedProxies(flags: IdentityFlags, { ca, allowedNames }: FrontProxies): Readonly<Record<string, string>> {
  const uid = flags.requestheaderUidHeaders
  return {
    'requestheader-allowed-names': JSON.stringify(allowedNames),
    'requestheader-client-ca-file': ca,
    'requestheader-extra-headers-prefix': JSON.stringify(flags.requestheaderExtraHeadersPrefix ?? ['X-Remote-Extra-']),
    'requestheader-group-headers': JSON.stringify(flags.requestheaderGroupHeaders ?? ['X-Remote-Group']),
    ...(uid === undefined ? {} : { 'requestheader-uid-headers': JSON.stringify(uid) }),
    'requestheader-username-headers': JSON.stringify(flags.requestheaderUsernameHeaders ?? ['X-Remote-User']),
  }
}
