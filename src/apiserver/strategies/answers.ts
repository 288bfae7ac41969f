/** How deletes are answered, by resource. */
import type { Strategy } from '../registry/strategy.ts'

/** Resources whose deletes are answered with the deleted object; all others answer with a Status of Success. */
export const returnDeletedObjects: ReadonlySet<string> = new Set([
  'namespaces',
  'persistentvolumeclaims',
  'persistentvolumes',
  'pods',
  'podtemplates',
  'resourcequotas',
  'serviceaccounts',
  'services',
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'storageclasses.storage.k8s.io',
  'volumeattachments.storage.k8s.io',
  'volumeattributesclasses.storage.k8s.io',
  'deviceclasses.resource.k8s.io',
  'resourceclaims.resource.k8s.io',
  'resourceclaimtemplates.resource.k8s.io',
  'resourceslices.resource.k8s.io',
])

type MetaOnUpdate = NonNullable<Strategy['metaOnUpdate']>

const each = (rules: MetaOnUpdate, names: string): readonly (readonly [string, MetaOnUpdate])[] =>
  names.split(/\s+/).map((name) => [name, rules] as const)

/** Which rules of new names an update is held to, where it is not finalizers alone. */
export const metaOnUpdate: Readonly<Record<string, MetaOnUpdate>> = Object.fromEntries([
  ...each(
    ['finalizers', 'generateName'],
    'configmaps secrets serviceaccounts endpoints persistentvolumeclaims pods controllerrevisions.apps ingresses.networking.k8s.io ingressclasses.networking.k8s.io volumeattributesclasses.storage.k8s.io',
  ),
  ...each(
    ['generateName', 'finalizers'],
    'namespaces nodes limitranges persistentvolumes endpointslices.discovery.k8s.io prioritylevelconfigurations.flowcontrol.apiserver.k8s.io flowschemas.flowcontrol.apiserver.k8s.io resourceclaims.resource.k8s.io resourceclaimtemplates.resource.k8s.io csinodes.storage.k8s.io csistoragecapacities.storage.k8s.io storageclasses.storage.k8s.io volumeattachments.storage.k8s.io storageversionmigrations.storagemigration.k8s.io ipaddresses.networking.k8s.io',
  ),
  ...each(
    ['generateName'],
    'mutatingwebhookconfigurations.admissionregistration.k8s.io validatingwebhookconfigurations.admissionregistration.k8s.io validatingadmissionpolicies.admissionregistration.k8s.io validatingadmissionpolicybindings.admissionregistration.k8s.io mutatingadmissionpolicies.admissionregistration.k8s.io mutatingadmissionpolicybindings.admissionregistration.k8s.io runtimeclasses.node.k8s.io',
  ),
  ...each([], 'events leases.coordination.k8s.io poddisruptionbudgets.policy'),
])
