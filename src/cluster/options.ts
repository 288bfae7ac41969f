/** What can be chosen when a cluster starts, and what it is when nobody chooses. */
export const COMPONENTS = ['apiserver', 'controllers', 'scheduler', 'kubelet'] as const
export type Component = (typeof COMPONENTS)[number]

/** The port a kubeadm cluster's API server has. */
export const DEFAULT_PORT = 6443
export const DEFAULT_HOST = '127.0.0.1'
