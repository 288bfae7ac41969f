/** The authorizers, where they are not just Node and RBAC: by flags, or a file that is followed as it changes. */
import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Authorizer } from '../apiserver/auth/authorizer.ts'
import type { ModeConfiguration } from '../apiserver/auth/config/authorization.ts'
import type { AuthorizationFlags } from '../apiserver/auth/config/authorization-flags.ts'
import { DocumentError } from '../apiserver/auth/config/document.ts'
import type { AuthorizationChain } from '../apiserver/identity.ts'
import type { Runtime } from '../base/runtime.ts'
import { whyUnread } from '../base/unread.ts'
import type { HttpsEndpoint } from '../http/client.ts'
import { StartError } from './errors.ts'
import { fromFlags, parsed, readText } from './read-file.ts'
import { reloadMetrics } from './reload-metrics.ts'
import { watchFile } from './watch-file.ts'
import { endpointOfKubeconfig } from './webhook-endpoint.ts'

/** Named after kube-apiserver's flags. */
export interface AuthorizationOptions extends AuthorizationFlags {
  /** AuthorizationConfiguration. Not with the other --authorization-* options. */
  readonly authorizationConfig?: string
}

export interface Authorization {
  readonly chain: AuthorizationChain
  close(): void
}

/** undefined when nothing is configured. @throws StartError */
export async function loadAuthorization(
  runtime: Runtime,
  options: AuthorizationOptions,
): Promise<Authorization | undefined> {
  const { authorizationConfig: file } = options
  const flagged = Object.entries(options).some(
    ([name, value]) => /^authorization(Mode|Webhook)/.test(name) && value !== undefined,
  )
  if (file === undefined && !flagged) return undefined
  if (file !== undefined && flagged)
    throw new StartError(
      '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
    )
  const [{ createChain }, { parseAuthorizationConfiguration }, { authorizationModes }] = await Promise.all([
    import('../apiserver/auth/chain.ts'),
    import('../apiserver/auth/config/authorization.ts'),
    import('../apiserver/auth/config/authorization-flags.ts'),
  ])
  const read = (text: string) => {
    const modes = parseAuthorizationConfiguration(text, fileProblem)
    return { modes, endpoints: endpointsOf(modes) }
  }
  const text = file === undefined ? '' : readText(file)
  let current =
    file === undefined
      ? fromFlags(() => {
          const modes = authorizationModes(options) ?? []
          return { modes, endpoints: endpointsOf(modes, 'invalid authorization config: ') }
        })
      : await parsed(file, text, read, {
          wrong: (why, cause) =>
            cause instanceof DocumentError ? `failed to load AuthorizationConfiguration from file: ${why}` : why,
        })
  const log = runtime.log.named('authorization')
  const reloaded = reloadMetrics(runtime, 'authorization')
  const needed = current.modes.filter(({ type }) => type === 'Node' || type === 'RBAC').map(({ type }) => type)
  let stop = () => {}
  return {
    chain: (builtin, onDecision) => {
      const made = (): Authorizer => {
        const { modes, endpoints } = current
        return createChain(runtime, modes, {
          builtin,
          onDecision,
          endpointOf: (kubeconfig) => endpoints.get(kubeconfig) as HttpsEndpoint,
        })
      }
      let authorizer = made()
      if (file !== undefined)
        stop = watchFile(runtime, file, text, (changed) => {
          try {
            const next = read(changed)
            const missing = needed.filter((type) => !next.modes.some((mode) => mode.type === type))
            if (missing.length > 0) throw new Error(`missing required types: [${missing.join(' ')}]`)
            current = next
            authorizer = made()
            log.info(0, 'reloaded authorization config', { file })
            reloaded(true)
          } catch (error) {
            log.error('the changed authorization configuration is not used', error, { file })
            reloaded(false)
          }
        })
      return {
        authorizer: { authorize: (attributes) => authorizer.authorize(attributes) },
        modes: () => current.modes.map(({ type }) => type),
      }
    },
    close: () => stop(),
  }
}

/** Read before anything is asked: what is wrong with a kubeconfig is told at the start. */
function endpointsOf(modes: readonly ModeConfiguration[], prefix = ''): ReadonlyMap<string | undefined, HttpsEndpoint> {
  const endpoints = new Map<string | undefined, HttpsEndpoint>()
  for (const mode of modes)
    if (mode.type === 'Webhook') endpoints.set(mode.kubeConfigFile, endpointOfKubeconfig(mode.kubeConfigFile, prefix))
  return endpoints
}

function fileProblem(path: string): string | undefined {
  if (!isAbsolute(path)) return 'must be an absolute path'
  try {
    return statSync(path).isFile() ? undefined : 'must be a regular file'
  } catch (error) {
    return `error loading file: ${whyUnread(path, error, 'stat')}`
  }
}
