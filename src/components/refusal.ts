/** What an API server would be refused with for its flags and the files that they name, without a start. For tests. */
import { builtinScheme } from '../api/scheme/scheme.ts'
import type { Runtime } from '../base/runtime.ts'
import { loadIdentity } from '../cluster/identity.ts'
import { loadKubeletOptions } from '../cluster/kubelet-options.ts'
import type { Pki } from '../cluster/pki.ts'
import { loadSecurity } from '../cluster/security.ts'
import { loadServerSettings } from '../cluster/server-flags.ts'
import { parseFlags } from './flags.ts'
import { KUBE_APISERVER_FLAGS } from './kube-apiserver-flags.ts'
import { apiServerOptions } from './kube-apiserver-options.ts'
import { judgeCommandLine } from './kube-apiserver-rules.ts'

const scheme = builtinScheme()

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
    const { security = {} } = apiServerOptions(values).cluster
    await loadServerSettings(security)
    const { serviceAccounts } = await loadIdentity(security, pki)
    const loaded = await loadSecurity(runtime, scheme, security, { auditLog, serviceAccounts })
    await loaded.close()
    await loadKubeletOptions(security, pki)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
