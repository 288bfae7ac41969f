import { KNOWN_PLUGINS } from '../apiserver/admission/plugin-order.ts'
import { StartError } from './errors.ts'

/** What can be chosen when a cluster starts, and its defaults. */
export const COMPONENTS = ['apiserver', 'controllers', 'scheduler', 'kubelet', 'storage', 'proxy', 'dns'] as const
export type Component = (typeof COMPONENTS)[number]

/** They carry the traffic of real containers: a simulated node has no network. */
const OF_A_REAL_NODE: readonly Component[] = ['proxy', 'dns']

/** @throws StartError for components that would have nothing to do */
export function chosenComponents(
  asked: readonly Component[] | undefined,
  containerRuntime: 'simulated' | 'cri' = 'simulated',
): readonly Component[] {
  const isReal = containerRuntime === 'cri'
  if (asked?.includes('storage') && !asked.includes('controllers'))
    throw new StartError(
      'component storage makes volumes as one of the controllers: it needs the component controllers',
    )
  if (asked === undefined) return COMPONENTS.filter((name) => isReal || !OF_A_REAL_NODE.includes(name))
  const needy = asked.find((name) => OF_A_REAL_NODE.includes(name))
  if (needy !== undefined && !(isReal && asked.includes('kubelet')))
    throw new StartError(`component ${needy} is for a node of real containers: it needs --runtime cri and the kubelet`)
  return asked
}

/** The cluster's time: the machine's own, or one that stands still until it is moved. */
export const CLOCKS = ['real', 'manual'] as const
export type ClockKind = (typeof CLOCKS)[number]

/** What may be enabled and disabled by name. */
export const ADMISSION_PLUGINS = KNOWN_PLUGINS

/** Of one cluster. */
export const MOST_NODES_OF_A_CLUSTER = 5000

/** What may be switched on under /skiff.dev/. */
export const CONTROLS = ['snapshot', 'fork', 'faults'] as const
export type ControlName = (typeof CONTROLS)[number]

/** The port a kubeadm cluster's API server has. */
export const DEFAULT_PORT = 6443
export const DEFAULT_HOST = '127.0.0.1'
