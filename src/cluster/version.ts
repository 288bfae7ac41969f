/** What skiff says it is. */
export const KUBERNETES_VERSION = 'v1.37.1+skiff'
export const SKIFF_VERSION = '0.1.0'
