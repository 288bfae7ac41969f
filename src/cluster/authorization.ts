/** The authorizers, where they are not just Node and RBAC: by flags, or a file that is followed as it changes. */
import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Policy } from '../apiserver/auth/abac.ts'
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
  const { authorizationConfig: file, authorizationPolicyFile: policyFile } = options
  const flagged = Object.entries(options).some(
    ([name, value]) => /^authorization(Mode|Webhook)/.test(name) && value !== undefined,
  )
  if (file === undefined && policyFile === undefined && !flagged) return undefined
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
    return { modes, endpoints: endpointsOf(modes, INVALID) }
  }
  const text = file === undefined ? '' : readText(file)
  let current =
    file === undefined
      ? fromFlags(() => {
          const modes = authorizationModes(options) ?? []
          return { modes, endpoints: endpointsOf(modes, INVALID) }
        })
      : await parsed(file, text, read, {
          wrong: (why, cause) =>
            cause instanceof DocumentError ? `failed to load AuthorizationConfiguration from file: ${why}` : why,
        })
  const log = runtime.log.named('authorization')
  const reloaded = reloadMetrics(runtime, 'authorization')
  const policies = await policiesOf(current.modes, options)
  const lasting = lastingTypes(current.modes)
  let stop = () => {}
  return {
    chain: (builtin, onDecision) => {
      const made = (): Authorizer => {
        const { modes, endpoints } = current
        return createChain(runtime, modes, {
          builtin,
          onDecision,
          policies,
          endpointOf: (kubeconfig) => endpoints.get(kubeconfig) as HttpsEndpoint,
        })
      }
      let authorizer = made()
      if (file !== undefined)
        stop = watchFile(runtime, file, text, (changed) => {
          try {
            const next = read(changed)
            const types = lastingTypes(next.modes)
            const missing = lasting.filter((type) => !types.includes(type))
            if (missing.length > 0) throw new Error(`missing required types: [${missing.join(' ')}]`)
            const added = types.find((type) => !lasting.includes(type))
            if (added !== undefined)
              throw new Error(`authorizer type ${added} is not allowed if it was not enabled at initial server startup`)
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
        policies,
      }
    },
    close: () => stop(),
  }
}

const INVALID = 'invalid authorization config: '

/** What decides by what a server has from its start: a changed file can neither add nor take it away. */
const lastingTypes = (modes: readonly ModeConfiguration[]) =>
  modes.map(({ type }) => type).filter((type) => type === 'Node' || type === 'RBAC' || type === 'ABAC')

/** What the mode ABAC goes by, read once. @throws StartError for a file that is none of policies */
async function policiesOf(
  modes: readonly ModeConfiguration[],
  { authorizationPolicyFile: file }: AuthorizationOptions,
): Promise<readonly Policy[]> {
  if (!modes.some(({ type }) => type === 'ABAC')) return []
  if (file === undefined) throw new StartError(`${INVALID}open : no such file or directory`)
  const { parsePolicies } = await import('../apiserver/auth/config/abac-policies.ts')
  const text = readText(file, (why, isFolder) =>
    // A folder is opened as any file, and fails when its first line is read.
    isFolder ? `${INVALID}error reading policy file ${file}: ${why}` : `${INVALID}${why}`,
  )
  return fromFlags(() => parsePolicies(text, file), INVALID)
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
