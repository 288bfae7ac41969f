/** The Go packages of kinds, as Kubernetes' messages name them. */

/** Groups whose kinds are, inside Kubernetes, those of another. */
const internalPackages: Readonly<Record<string, string>> = {
  '': 'core',
  'events.k8s.io': 'core',
  'meta.k8s.io': 'meta',
}
const extensionsKinds: Readonly<Record<string, string>> = {
  Deployment: 'apps',
  DaemonSet: 'apps',
  ReplicaSet: 'apps',
  Ingress: 'networking',
  NetworkPolicy: 'networking',
  Scale: 'autoscaling',
}

/** The name of the Go package that has the kind's own type, as messages name it. */
export function internalPackage({ group, kind }: { readonly group: string; readonly kind: string }): string {
  if (group === 'extensions' && Object.hasOwn(extensionsKinds, kind)) return extensionsKinds[kind]!
  return Object.hasOwn(internalPackages, group) ? internalPackages[group]! : group.split('.')[0]!
}

/** The Go type of custom resources: maps of any fields. */
export const UNSTRUCTURED = 'unstructured.Unstructured'

/** The Go type of a built-in kind. */
export const goTypeOfKind = (kind: { readonly group: string; readonly kind: string }): string =>
  `${internalPackage(kind)}.${kind.kind}`
