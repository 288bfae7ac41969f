/** The flags by which a cluster keeps everything in etcd, named as kube-apiserver's. */
import { Option } from 'commander'
import { StartError } from '../cluster/errors.ts'
import type { EtcdOptions } from '../storage/etcd/servers.ts'

export interface EtcdFlags {
  readonly etcdServers?: string
  readonly etcdCafile?: string
  readonly etcdCertfile?: string
  readonly etcdKeyfile?: string
  readonly etcdPrefix?: string
}

const FLAGS = {
  etcdServers: ['--etcd-servers', '<urls>', 'keep everything in this etcd, which other API servers may share'],
  etcdCafile: ['--etcd-cafile', '<file>', "the authority of etcd's certificates"],
  etcdCertfile: ['--etcd-certfile', '<file>', 'the certificate to show etcd'],
  etcdKeyfile: ['--etcd-keyfile', '<file>', 'its key'],
  etcdPrefix: ['--etcd-prefix', '<path>', 'where keys in etcd begin (default: /registry)'],
} as const satisfies Record<keyof EtcdFlags, readonly string[]>

/** Those that say how, and not where. */
export const ETCD_FILE_FLAGS = ['etcdCafile', 'etcdCertfile', 'etcdKeyfile', 'etcdPrefix'] as const
const NAMES = Object.keys(FLAGS) as readonly (keyof EtcdFlags)[]

export const etcdFlags = (names = NAMES): readonly Option[] =>
  names.map((name) => {
    const [flag, argument, description] = FLAGS[name]
    return new Option(`${flag} ${argument}`, description)
  })

/** The flags as they were given. */
export const etcdArguments = (flags: EtcdFlags): readonly string[] =>
  NAMES.flatMap((name) => {
    const value = flags[name]
    return value === undefined ? [] : [FLAGS[name][0], value]
  })

/** @throws StartError when another of the flags comes without the servers */
export function etcdOf(flags: EtcdFlags): { readonly etcd?: EtcdOptions } {
  const { etcdServers: servers } = flags
  if (servers === undefined) {
    const [lonely] = etcdArguments(flags)
    if (lonely !== undefined) throw new StartError(`${lonely} needs --etcd-servers`)
    return {}
  }
  return { etcd: { servers, ...etcdFilesOf(flags) } }
}

/** How etcd is reached, wherever it is. */
export function etcdFilesOf(flags: Omit<EtcdFlags, 'etcdServers'>): Omit<EtcdOptions, 'servers'> {
  const { etcdCafile, etcdCertfile, etcdKeyfile, etcdPrefix } = flags
  return {
    ...(etcdCafile === undefined ? {} : { caFile: etcdCafile }),
    ...(etcdCertfile === undefined ? {} : { certFile: etcdCertfile }),
    ...(etcdKeyfile === undefined ? {} : { keyFile: etcdKeyfile }),
    ...(etcdPrefix === undefined ? {} : { prefix: etcdPrefix }),
  }
}
