export const namespaceOf = (index: number): string => `plan-${index}`
/** So many namespaces have a ConfigMap `held` that is being deleted and does not go. */
export const HELD = 10
