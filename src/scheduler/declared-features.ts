/**
 * Plugin NodeDeclaredFeatures (KEP-5328): a pod that asks for what only some kubelets do goes only to nodes that declare it
 * (status.declaredFeatures).
 */
import type { Pod } from '../api/generated/types.ts'
import type { NodeInfo } from './node-info.ts'

const NONE: readonly never[] = []

/** Of the features that nodes declare by default in v1.37, those that a pod's specification can ask for. */
export function requiredFeatures({ spec }: Pod): readonly string[] {
  const containers = [...(spec?.containers ?? NONE), ...(spec?.initContainers ?? NONE)]
  const restartsAll = containers.some(({ restartPolicyRules = NONE }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  )
  return restartsAll ? ['RestartAllContainersOnContainerExits'] : NONE
}

export const declaresAll = ({ node }: NodeInfo, features: readonly string[]): boolean =>
  features.every((feature) => node?.status?.declaredFeatures?.includes(feature))
