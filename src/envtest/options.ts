/** What kube-apiserver's flags ask for, as a test suite's starter gives them: options of a cluster whose store is memory. */

import type { ClusterOptions } from '../cluster/cluster-options.ts'
import { type Component, chosenComponents } from '../cluster/options.ts'
import type { SecurityOptions } from '../cluster/security.ts'
import { FlagError, type FlagValues } from '../components/flags.ts'
import { apiServerOptions } from '../components/kube-apiserver-options.ts'

export interface ApiServerFlags {
  readonly cluster: ClusterOptions
  readonly etcdServers: readonly string[]
  /** What keys begin with at etcd's port. */
  readonly etcdPrefix?: string
  readonly certDir: string
  /** Lines on standard error for the test that started it. */
  readonly warnings: readonly string[]
}

/** `wanted`: SKIFF_COMPONENTS. @throws FlagError */
export function apiServerFlags(values: FlagValues, wanted: string | undefined): ApiServerFlags {
  const { cluster, certDir, warnings } = apiServerOptions(values)
  const components = componentsOf(wanted)
  const etcdPrefix = values.get('etcd-prefix')?.at(-1)
  const security = withNodes(components, withModes(cluster.security ?? {}))
  return {
    etcdServers: values.get('etcd-servers') ?? [],
    ...(etcdPrefix === undefined ? {} : { etcdPrefix }),
    certDir,
    warnings,
    cluster: { ...cluster, components, storage: 'memory', security },
  }
}

/** kube-apiserver's own default, also where the flag is given empty: each user that is known may do everything. */
function withModes(security: SecurityOptions): SecurityOptions {
  const { authorizationMode: modes = [], authorizationConfig: file } = security
  return modes.length > 0 || file !== undefined ? security : { ...security, authorizationMode: ['AlwaysAllow'] }
}

/** Simulated kubelets may do what the Node authorizer lets them: without it their role has no subject. */
function withNodes(components: readonly Component[], security: SecurityOptions): SecurityOptions {
  const { authorizationMode: modes } = security
  if (!components.includes('kubelet') || modes === undefined) return security
  if (modes.includes('Node') || modes.includes('AlwaysAllow')) return security
  return { ...security, authorizationMode: ['Node', ...modes] }
}

/** Default: what envtest has, the API server alone. */
function componentsOf(wanted: string | undefined): readonly Component[] {
  switch (wanted) {
    case undefined:
    case '':
    case 'apiserver':
      return ['apiserver']
    case 'controllers':
    case 'all':
      return chosenComponents(undefined)
    default:
      throw new FlagError(
        `SKIFF_COMPONENTS=${wanted}: use apiserver, or controllers (or all) for everything a cluster has`,
      )
  }
}
