/** What an API server would be refused with for its flags and the files that they name, without a start. For tests. */
import { builtinScheme } from '../api/scheme/scheme.ts'
import { createAdmissionChain } from '../apiserver/admission/chain.ts'
import { builtinAdmissionPlugins } from '../apiserver/admission/plugins/by-name.ts'
import type { Runtime } from '../base/runtime.ts'
import { loadIdentity } from '../cluster/identity.ts'
import { loadKubeletOptions } from '../cluster/kubelet-options.ts'
import type { Pki } from '../cluster/pki.ts'
import { loadSecurity } from '../cluster/security.ts'
import { loadServerSettings } from '../cluster/server-flags.ts'
import { endpointOfKubeconfig } from '../cluster/webhook-endpoint.ts'
import { parseFlags } from './flags.ts'
import { KUBE_APISERVER_FLAGS } from './kube-apiserver-flags.ts'
import { apiServerOptions } from './kube-apiserver-options.ts'
import { judgeCommandLine } from './kube-apiserver-rules.ts'

const scheme = builtinScheme()
/** Plugins are only made: nothing is asked of what they would read. */
const NOTHING: never = new Proxy(() => NOTHING, { get: () => NOTHING }) as never

/** Empty where nothing is wrong. `auditLog`: where events would go. */
export async function refusalOfFlags(
  runtime: Runtime,
  args: readonly string[],
  { pki, auditLog }: { readonly pki: Pki; readonly auditLog: string },
): Promise<string> {
  try {
    const values = parseFlags('kube-apiserver', KUBE_APISERVER_FLAGS, args, (asked) =>
      judgeCommandLine(asked, { needsStoreAndKeys: true }),
    )
    const { cluster } = apiServerOptions(values)
    const { security = {} } = cluster
    const settings = await loadServerSettings(security)
    const { serviceAccounts } = await loadIdentity(security, pki)
    const loaded = await loadSecurity(runtime, scheme, security, { auditLog, serviceAccounts })
    await loaded.close()
    await loadKubeletOptions(security, pki)
    createAdmissionChain(NOTHING, NOTHING, {
      plugins: builtinAdmissionPlugins(runtime, undefined, settings.tolerationSeconds, endpointOfKubeconfig),
      configurationOf: settings.admissionConfigurationOf,
      enabled: cluster.enableAdmissionPlugins ?? [],
      disabled: cluster.disableAdmissionPlugins ?? [],
    })
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
