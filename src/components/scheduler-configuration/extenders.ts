/** What a configuration says of extenders, servers that are asked about nodes over HTTP. */
import { readFileSync } from 'node:fs'
import { whyUnread } from '../../base/unread.ts'
import { keyPairOf, rootCertificates } from '../../cluster/pem-files.ts'
import type { ExtenderSettings, ExtenderTls } from '../../scheduler/extenders/extender.ts'
import { asDuration } from '../flags.ts'

export const USUAL_TIMEOUT = '5s'

/** As the file has it: any field may be missing, or null. */
export interface GivenExtender {
  readonly urlPrefix?: string | null
  readonly filterVerb?: string | null
  readonly prioritizeVerb?: string | null
  readonly preemptVerb?: string | null
  readonly bindVerb?: string | null
  readonly weight?: number | null
  readonly enableHTTPS?: boolean | null
  readonly tlsConfig?: GivenTls | null
  readonly httpTimeout?: string | null
  readonly nodeCacheCapable?: boolean | null
  readonly managedResources?: readonly { readonly name: string; readonly ignoredByScheduler?: boolean | null }[] | null
  readonly ignorable?: boolean | null
}

type GivenTls = Readonly<
  Partial<
    Record<'serverName' | `${'ca' | 'cert' | 'key'}${'File' | 'Data'}`, string | null> & { insecure: boolean | null }
  >
>

const millisecondsOf = (duration: string): number => Number(asDuration(duration)) / 1e6

/** `extender`: validated. @throws what is wrong with its files, in the words of kube-scheduler */
export function extenderSettings(extender: GivenExtender): ExtenderSettings {
  const { httpTimeout, managedResources } = extender
  return {
    urlPrefix: extender.urlPrefix ?? '',
    filterVerb: extender.filterVerb ?? '',
    prioritizeVerb: extender.prioritizeVerb ?? '',
    preemptVerb: extender.preemptVerb ?? '',
    bindVerb: extender.bindVerb ?? '',
    weight: extender.weight ?? 0,
    timeoutMs: millisecondsOf(httpTimeout || USUAL_TIMEOUT) || millisecondsOf(USUAL_TIMEOUT),
    nodeCacheCapable: extender.nodeCacheCapable ?? false,
    managedResources: new Set((managedResources ?? []).map(({ name }) => name)),
    ignorable: extender.ignorable ?? false,
    tls: tlsOf(extender.tlsConfig ?? {}, extender.enableHTTPS ?? false),
  }
}

/** Resources that extenders look after: NodeResourcesFit lets them pass. */
export const ignoredResources = (extenders: readonly GivenExtender[]): readonly string[] =>
  extenders.flatMap(({ managedResources }) =>
    (managedResources ?? []).flatMap(({ name, ignoredByScheduler }) => (ignoredByScheduler === true ? [name] : [])),
  )

function tlsOf(given: GivenTls, enableHttps: boolean): ExtenderTls {
  const ca = pemOf(given, 'ca')
  const cert = pemOf(given, 'cert')
  const key = pemOf(given, 'key')
  if (ca !== '') rootCertificates(ca)
  if (ca !== '' && given.insecure === true)
    throw new Error('specifying a root certificates file with the insecure flag is not allowed')
  const pair = cert !== '' && key !== '' ? keyPairOf({ cert, key }) : undefined
  return {
    // One that is to be asked over https, and by whose authority is not said, is believed.
    insecure: given.insecure === true || (enableHttps && ca === ''),
    ...(ca === '' ? {} : { ca }),
    ...(pair === undefined ? {} : { cert: pair.cert, key: pair.key }),
    ...(given.serverName ? { serverName: given.serverName } : {}),
  }
}

/** Data goes before a file. */
function pemOf(given: GivenTls, what: 'ca' | 'cert' | 'key'): string {
  const data = given[`${what}Data`] ?? ''
  if (data !== '') return Buffer.from(data, 'base64').toString('latin1')
  const file = given[`${what}File`] ?? ''
  if (file === '') return ''
  try {
    return readFileSync(file, 'latin1')
  } catch (cause) {
    throw new Error(whyUnread(file, cause), { cause })
  }
}
