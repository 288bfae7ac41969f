/**
 * Front proxies: servers that have authenticated the users of requests that they pass on, and name them in headers (API concept:
 * authenticating proxy; kube-apiserver's --requestheader-* flags).
 */
import type { ApiRequest, UserInfo } from '../../api/request.ts'
import { decodeHeader } from '../../http/header-text.ts'

export interface FrontProxies {
  /** PEM of the authorities that certify them. */
  readonly ca: string
  /** Common names of their certificates; empty: any. */
  readonly allowedNames: readonly string[]
  /** Names of headers, in lower case; the first that is there counts. */
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  /** Every one that is there counts. */
  readonly groupHeaders: readonly string[]
  /** What headers begin with that name further properties. */
  readonly extraPrefixes: readonly string[]
}

/** As kubeadm starts kube-apiserver. */
export const DEFAULT_FRONT_PROXIES: Omit<FrontProxies, 'ca'> = {
  allowedNames: ['front-proxy-client'],
  usernameHeaders: ['x-remote-user'],
  uidHeaders: [],
  groupHeaders: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
}

/**
 * The user that a proxy's request is from.
 *
 * @throws when it may not speak for others, or names no user
 */
export function namedBy(proxies: FrontProxies, proxy: UserInfo, { headers, headerValues }: ApiRequest): UserInfo {
  const { allowedNames } = proxies
  if (allowedNames.length > 0 && !allowedNames.includes(proxy.name))
    throw new Error(`the front proxy ${JSON.stringify(proxy.name)} is not an allowed one`)
  const firstOf = (names: readonly string[]) => names.map((name) => headers[name]).find(Boolean) ?? ''
  const name = decodeHeader(firstOf(proxies.usernameHeaders))
  if (!name) throw new Error("a front proxy's certificate is no client's, and its headers name no user")
  const valuesOf = (header: string) =>
    (headerValues?.get(header) ?? headers[header]?.split(', ') ?? []).map((value) => decodeHeader(value))
  const extra: Record<string, readonly string[]> = Object.create(null)
  for (const header of Object.keys(headers).sort()) {
    const prefix = proxies.extraPrefixes.find((one) => header.startsWith(one))
    if (prefix === undefined) continue
    const key = extraKey(header.slice(prefix.length))
    extra[key] = [...(extra[key] ?? []), ...valuesOf(header)]
  }
  const uid = decodeHeader(firstOf(proxies.uidHeaders))
  return {
    name,
    ...(uid ? { uid } : {}),
    groups: proxies.groupHeaders.flatMap(valuesOf).filter((group) => group.trim() !== ''),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  }
}

/** A name that cannot be unescaped is taken as it is. */
function extraKey(escaped: string): string {
  try {
    return decodeURIComponent(escaped)
  } catch {
    return escaped
  }
}
