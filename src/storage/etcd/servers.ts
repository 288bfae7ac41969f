/** Which etcd servers there are, as the flags of kube-apiserver name them. */

import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { messageOf } from '../../base/errors.ts'
import { isLoopback } from '../../base/loopback.ts'
import { StoreError } from '../storage.ts'

export interface EtcdOptions {
  /** URLs, separated by commas. */
  readonly servers: string
  /** Files: the authority of the servers' certificates, and the certificate and key to show them. */
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
  /** Where keys begin. Default `/registry`. */
  readonly prefix?: string
  /** Milliseconds between compactions by the marker. Default five minutes; 0, or less: never. */
  readonly compactEveryMs?: number
  /** For how many seconds keys that end by themselves may share a lease. Default a minute. */
  readonly leaseReuseSeconds?: number
}

export interface EtcdFiles {
  readonly ca: Buffer | undefined
  readonly cert: Buffer | undefined
  readonly key: Buffer | undefined
}

export interface EtcdServers {
  /** `host:port` of each member. */
  readonly addresses: readonly string[]
  readonly isSecure: boolean
  /** As the files are now: they may have been renewed. @throws StoreError that says which flag's file cannot be read */
  files(): EtcdFiles
  /** Begins with a slash and ends without one. */
  readonly prefix: string
}

/** @throws StoreError that says which flag is wrong, and what to do */
export function etcdServers(options: EtcdOptions): EtcdServers {
  const urls = options.servers.split(',').map((text) => urlOf(text.trim()))
  const isSecure = urls.some(({ protocol }) => protocol === 'https:')
  if (urls.some(({ protocol }) => (protocol === 'https:') !== isSecure))
    throw new StoreError('--etcd-servers names http and https servers: give all of them by https')
  if ((options.certFile === undefined) !== (options.keyFile === undefined))
    throw new StoreError('--etcd-certfile and --etcd-keyfile go together: give both or neither')
  if (!isSecure && (options.caFile ?? options.certFile) !== undefined)
    throw new StoreError('--etcd-cafile and --etcd-certfile are for https: give --etcd-servers by https')
  return {
    addresses: urls.map(({ hostname, port }) => `${hostname}:${port || '2379'}`),
    isSecure,
    files: () => ({
      ca: fileOf('--etcd-cafile', options.caFile),
      cert: fileOf('--etcd-certfile', options.certFile),
      key: fileOf('--etcd-keyfile', options.keyFile),
    }),
    prefix: prefixOf(options.prefix ?? '/registry'),
  }
}

function urlOf(text: string): URL {
  const wrong = (why: string) => new StoreError(`--etcd-servers ${JSON.stringify(text)} ${why}`)
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw wrong('is no URL: give one like https://10.0.0.1:2379, or several with commas between')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw wrong('is neither an http nor an https URL')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '' || url.pathname !== '/')
    throw wrong('has more than a host and a port: etcd is known by its certificate, and has no path')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw wrong('would send every Secret in the clear: beyond loopback etcd is reached by https alone')
  return url
}

/** As Kubernetes reads it: `foo` is `/foo`; without a slash at its end, so that the root is nothing. */
export const keyPrefix = (text: string): string => posix.join('/', text).replace(/\/$/, '')

/** @throws StoreError also for the root, whose keys are not Kubernetes' alone */
function prefixOf(text: string): string {
  const prefix = keyPrefix(text)
  if (!/^\/[^\s]+$/.test(prefix))
    throw new StoreError(`--etcd-prefix ${JSON.stringify(text)} is no path of its own: give one like /registry`)
  return prefix
}

function fileOf(flag: string, file: string | undefined): Buffer | undefined {
  if (file === undefined) return undefined
  try {
    return readFileSync(file)
  } catch (error) {
    throw new StoreError(`${flag} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}
