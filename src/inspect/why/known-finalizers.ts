/** Finalizers that are known by name: the controller of each, after what, and what is left behind when they are taken off by hand. */

/** What is looked at to see what a finalizer waits for (follow.ts); absent: its controller's own work. */
export type Follow =
  | 'foreground'
  | 'orphan'
  | 'claim'
  | 'reservations'
  | 'volume'
  | 'attachments'
  | 'attachment'
  | 'instances'
  | 'drain'
  | 'owners'
  | 'users'

export interface KnownFinalizer {
  /** The name; a `*` stands for any text. */
  readonly finalizer: string
  /** The resources on which it means this; absent: any. */
  readonly resources?: readonly string[]
  readonly controller: string
  /** A component of Kubernetes, or what the names, images or labels of the workload contain that it runs in. */
  readonly runsIn: 'kube-controller-manager' | 'kube-apiserver' | 'cloud-controller-manager' | readonly string[]
  /** It is put on objects of other software of the same family: what may write those, or is named like them, is not it. */
  readonly isGuest?: true
  /** Of a controller of kube-controller-manager: the service account that it may have. */
  readonly account?: string
  readonly does: string
  /** What stays behind when it is taken off by hand. */
  readonly leaves: string
  readonly follow?: Follow
}

const KCM = 'kube-controller-manager'

export const KNOWN_FINALIZERS: readonly KnownFinalizer[] = [
  {
    finalizer: 'foregroundDeletion',
    controller: 'garbage collector',
    runsIn: KCM,
    account: 'generic-garbage-collector',
    does: 'deletes the dependents first, and waits for those that block their owner',
    leaves: 'the dependents stay until the garbage collector finds that their owner is gone, and deletes them then',
    follow: 'foreground',
  },
  {
    finalizer: 'orphan',
    controller: 'garbage collector',
    runsIn: KCM,
    account: 'generic-garbage-collector',
    does: 'takes the owner reference off each dependent, so that they live on',
    leaves: 'dependents that still name this owner are deleted by the garbage collector',
    follow: 'orphan',
  },
  {
    finalizer: 'kubernetes.io/pvc-protection',
    resources: ['persistentvolumeclaims'],
    controller: 'pvc-protection-controller',
    runsIn: KCM,
    account: 'pvc-protection-controller',
    does: 'waits until no pod uses the claim',
    leaves:
      'pods that use the claim lose their volume when they are restarted, and data if the volume is deleted with it',
    follow: 'claim',
  },
  {
    finalizer: 'kubernetes.io/pv-protection',
    resources: ['persistentvolumes'],
    controller: 'pv-protection-controller',
    runsIn: KCM,
    account: 'pv-protection-controller',
    does: 'waits until the volume is bound to no claim',
    leaves: 'the claim is Lost, and the disk behind the volume is no longer managed',
    follow: 'volume',
  },
  {
    finalizer: 'kubernetes.io/vac-protection',
    resources: ['volumeattributesclasses'],
    controller: 'volumeattributesclass-protection-controller',
    runsIn: KCM,
    account: 'volumeattributesclass-protection-controller',
    does: 'waits until no claim and no volume has the class, or is on its way to it',
    leaves: 'claims and volumes name a class that is no longer there',
  },
  {
    finalizer: 'resource.kubernetes.io/delete-protection',
    resources: ['resourceclaims'],
    controller: 'resourceclaim-controller',
    runsIn: KCM,
    account: 'resource-claim-controller',
    does: 'waits until the claim is reserved for no pod, and gives its devices free',
    leaves: 'pods that use the claim run on with devices that the scheduler gives to others',
    follow: 'reservations',
  },
  {
    finalizer: 'external-attacher/*',
    resources: ['persistentvolumes'],
    controller: 'external-attacher of the driver',
    runsIn: ['attacher', 'csi'],
    does: 'waits until the volume is attached to no node',
    leaves: 'the disk may stay attached to a node in the storage system',
    follow: 'attachments',
  },
  {
    finalizer: 'external-attacher/*',
    resources: ['volumeattachments'],
    controller: 'external-attacher of the driver',
    runsIn: ['attacher', 'csi'],
    does: 'detaches the disk from the node',
    leaves: 'the disk stays attached to the node in the storage system: look there before another node writes to it',
    follow: 'attachment',
  },
  {
    finalizer: 'external-provisioner.volume.kubernetes.io/finalizer',
    resources: ['persistentvolumes'],
    controller: 'external-provisioner of the driver',
    runsIn: ['provisioner', 'csi'],
    does: 'deletes the disk behind the volume (reclaimPolicy Delete)',
    leaves: 'the disk in the storage system',
  },
  {
    finalizer: 'kubernetes.io/pv-controller',
    resources: ['persistentvolumes'],
    controller: 'persistentvolume-binder-controller',
    runsIn: KCM,
    account: 'persistent-volume-binder',
    does: 'deletes the disk behind an in-tree volume (reclaimPolicy Delete)',
    leaves: 'the disk in the storage system',
  },
  {
    finalizer: 'provisioner.storage.kubernetes.io/*',
    controller: 'external-provisioner of the driver',
    runsIn: ['provisioner', 'csi'],
    does: 'waits until no volume is being made of the claim as a copy',
    leaves: 'a copy that is under way may fail',
  },
  {
    finalizer: 'snapshot.storage.kubernetes.io/*',
    controller: 'snapshot-controller',
    runsIn: ['snapshot-controller', 'csi-snapshotter', 'snapshotter'],
    does: 'waits until snapshots of it are done and no longer in use',
    leaves: 'a snapshot that is under way may fail; of a snapshot or its content, the snapshot in the storage system',
  },
  {
    finalizer: 'batch.kubernetes.io/job-tracking',
    resources: ['pods'],
    controller: 'job-controller',
    runsIn: KCM,
    account: 'job-controller',
    does: 'counts the pod in its Job before it goes',
    leaves: 'the Job may count the pod as failed or not at all',
  },
  {
    finalizer: 'service.kubernetes.io/load-balancer-cleanup',
    resources: ['services'],
    controller: 'service controller of the cloud-controller-manager',
    runsIn: 'cloud-controller-manager',
    does: 'takes the load balancer down',
    leaves: 'the load balancer at the cloud provider, with its address and its price',
  },
  {
    finalizer: 'service.k8s.aws/*',
    controller: 'AWS Load Balancer Controller',
    runsIn: ['aws-load-balancer-controller'],
    does: 'takes the load balancer down',
    leaves: 'the load balancer, target groups and security groups at AWS',
  },
  {
    finalizer: 'ingress.k8s.aws/*',
    controller: 'AWS Load Balancer Controller',
    runsIn: ['aws-load-balancer-controller'],
    does: 'takes the load balancer of the Ingress (group) down',
    leaves: 'the load balancer, target groups and security groups at AWS',
  },
  {
    finalizer: 'group.ingress.k8s.aws/*',
    controller: 'AWS Load Balancer Controller',
    runsIn: ['aws-load-balancer-controller'],
    does: 'takes the load balancer of the Ingress (group) down',
    leaves: 'the load balancer, target groups and security groups at AWS',
  },
  {
    finalizer: 'elbv2.k8s.aws/*',
    controller: 'AWS Load Balancer Controller',
    runsIn: ['aws-load-balancer-controller'],
    does: 'takes target groups and their bindings down',
    leaves: 'target groups at AWS',
  },
  {
    finalizer: 'networking.gke.io/*',
    controller: "GKE's ingress and load balancer controllers",
    runsIn: ['l7-lb-controller', 'glbc', 'ingress-gce'],
    does: 'takes the load balancer down',
    leaves: 'forwarding rules, backends and health checks at Google Cloud',
  },
  {
    finalizer: 'customresourcecleanup.apiextensions.k8s.io',
    resources: ['customresourcedefinitions'],
    controller: 'custom resource finalizer of the API server',
    runsIn: 'kube-apiserver',
    does: 'deletes every instance of the definition, and waits until they are gone',
    leaves: 'the instances stay in the store, where nothing can see them, and come back with the definition',
    follow: 'instances',
  },
  {
    finalizer: 'controller.cattle.io/*',
    controller: 'Rancher',
    runsIn: ['rancher', 'cattle'],
    does: 'takes away what Rancher made for the object (bindings, annotations of projects)',
    leaves: 'role bindings and secrets that Rancher made',
  },
  {
    finalizer: 'resources-finalizer.argocd.argoproj.io*',
    resources: ['appprojects'],
    controller: 'Argo CD application controller',
    runsIn: ['argocd-application-controller', 'argocd', 'argo-cd'],
    does: 'waits until no Application is in the project',
    leaves: 'Applications whose project is not there',
    follow: 'users',
  },
  {
    finalizer: 'resources-finalizer.argocd.argoproj.io*',
    controller: 'Argo CD application controller',
    runsIn: ['argocd-application-controller', 'argocd', 'argo-cd'],
    does: 'deletes all that the Application deployed, in the cluster it was deployed to',
    leaves: 'everything that the Application deployed',
  },
  {
    finalizer: '*-finalizer.argocd.argoproj.io*',
    controller: 'Argo CD application controller',
    runsIn: ['argocd-application-controller', 'argocd', 'argo-cd'],
    does: 'runs the deletion hooks of the Application',
    leaves: 'the hooks do not run',
  },
  {
    finalizer: 'finalizer.acme.cert-manager.io',
    controller: 'cert-manager',
    runsIn: ['cert-manager'],
    does: 'takes the answer to the challenge away (a DNS record, an Ingress, a pod)',
    leaves: 'the DNS record, or the solver Ingress, Service and pod',
    follow: 'owners',
  },
  {
    finalizer: 'acme.cert-manager.io/finalizer',
    controller: 'cert-manager',
    runsIn: ['cert-manager'],
    does: 'takes the answer to the challenge away (a DNS record, an Ingress, a pod)',
    leaves: 'the DNS record, or the solver Ingress, Service and pod',
    follow: 'owners',
  },
  {
    finalizer: 'in-use.crossplane.io',
    controller: 'Crossplane and its providers',
    runsIn: ['crossplane', 'upbound', 'provider-'],
    does: 'waits until nothing uses it',
    leaves: 'what uses it can no longer be changed or deleted at its provider',
  },
  {
    finalizer: '*.crossplane.io',
    controller: 'Crossplane and its providers',
    runsIn: ['crossplane', 'upbound', 'provider-'],
    does: 'deletes the external resource',
    leaves: 'the external resource at its provider, with its price',
  },
  {
    finalizer: 'karpenter.sh/termination',
    controller: 'Karpenter',
    runsIn: ['karpenter'],
    does: 'drains the node and ends its machine',
    leaves: 'the machine goes on at the cloud provider, with its price',
    follow: 'drain',
  },
  {
    finalizer: 'karpenter.k8s.aws/termination',
    controller: 'Karpenter',
    runsIn: ['karpenter'],
    does: 'waits until no NodeClaim uses it, then deletes its instance profile and launch templates',
    leaves: 'instance profiles and launch templates at AWS',
    follow: 'users',
  },
  {
    finalizer: 'chains.tekton.dev*',
    controller: 'Tekton Chains',
    runsIn: ['tekton-chains', 'chains-controller'],
    isGuest: true,
    does: 'signs what the run made before it goes',
    leaves: 'nothing; what the run made is not signed',
  },
  {
    finalizer: 'results.tekton.dev/*',
    controller: 'Tekton Results',
    runsIn: ['tekton-results', 'results-watcher'],
    isGuest: true,
    does: 'stores the run and its logs before it goes',
    leaves: 'nothing; the run is not stored',
  },
  {
    finalizer: 'workflows.argoproj.io/*',
    controller: 'Argo Workflows',
    runsIn: ['workflow-controller', 'argo-workflows'],
    does: 'takes over what the pod or Workflow has to tell, and deletes artifacts',
    leaves: 'artifacts in their store; the state of the pod is not in its Workflow',
  },
  {
    finalizer: 'argocd.argoproj.io/hook-finalizer',
    controller: 'Argo CD application controller',
    runsIn: ['argocd-application-controller', 'argocd', 'argo-cd'],
    does: 'keeps a hook until the sync has seen how it ended',
    leaves: 'nothing; the sync may take the hook for lost',
  },
  {
    finalizer: 'finalizer.keda.sh',
    controller: 'KEDA',
    runsIn: ['keda-operator', 'keda'],
    does: 'scales the target back and ends its scale loop',
    leaves: 'the target at the scale that it has',
  },
  {
    finalizer: 'cluster.open-cluster-management.io/*',
    controller: 'Open Cluster Management',
    runsIn: [
      'klusterlet',
      'work-agent',
      'registration-agent',
      'work-manager',
      'registration-controller',
      'cluster-manager',
    ],
    does: 'deletes in the managed cluster what was deployed there; for some kinds its agent there has to',
    leaves: 'what was deployed in the managed cluster',
  },
  {
    finalizer: 'machine.cluster.x-k8s.io',
    controller: 'Cluster API',
    runsIn: ['capi-controller-manager', 'cluster-api', 'capi'],
    does: 'drains the node, detaches its volumes and deletes the machine behind it',
    leaves: 'the machine goes on at its provider, and its Node object stays',
    follow: 'drain',
  },
  {
    finalizer: '*.cluster.x-k8s.io*',
    controller: 'Cluster API',
    runsIn: ['capi', 'cluster-api', 'capa', 'capz', 'capg', 'capv', 'capd', 'capm3'],
    does: 'deletes the infrastructure behind the object',
    leaves: 'machines, networks and load balancers at the provider',
  },
  {
    finalizer: 'longhorn.io',
    controller: 'Longhorn',
    runsIn: ['longhorn'],
    does: 'takes volumes, replicas and engines down in order',
    leaves: 'replicas of volumes on the disks of nodes',
  },
  {
    finalizer: 'foregroundDelete*',
    controller: 'KubeVirt',
    runsIn: ['virt-controller', 'virt-operator', 'kubevirt'],
    does: 'ends the virtual machine and its pods first',
    leaves: 'the pods of the virtual machine',
  },
  {
    finalizer: 'kubevirt.io/*',
    controller: 'KubeVirt',
    runsIn: ['virt-controller', 'virt-operator', 'kubevirt'],
    does: 'ends the virtual machine and its pods first',
    leaves: 'the pods of the virtual machine',
  },
  {
    finalizer: 'finalizers.fluxcd.io',
    controller: 'Flux',
    runsIn: [
      'source-controller',
      'kustomize-controller',
      'helm-controller',
      'notification-controller',
      'image-',
      'flux',
    ],
    does: 'deletes (prunes, uninstalls) what the object deployed',
    leaves: 'what the object deployed',
  },
  {
    finalizer: 'ray.io/*',
    controller: 'KubeRay',
    runsIn: ['kuberay', 'ray-operator'],
    does: "runs a job that cleans up the cluster's Redis, then ends the cluster",
    leaves: 'keys in the Redis that held the state',
  },
  {
    finalizer: 'wrangler.cattle.io/*',
    controller: 'Rancher or Fleet',
    runsIn: ['rancher', 'fleet', 'cattle'],
    does: 'takes away what it made for the object',
    leaves: 'what it made for the object',
  },
  {
    finalizer: 'tigera.io/*',
    controller: 'Tigera operator',
    runsIn: ['tigera-operator'],
    does: 'takes Calico down in order',
    leaves: 'service accounts, roles and resources of Calico',
  },
  {
    finalizer: 'kopf.zalando.org/*',
    controller: 'an operator made with kopf',
    runsIn: ['kopf'],
    does: "calls the operator's deletion handlers",
    leaves: 'what the handlers would have cleaned up',
  },
]

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const patterns = KNOWN_FINALIZERS.map((known) => ({
  known,
  pattern: new RegExp(`^${known.finalizer.split('*').map(escaped).join('.*')}$`),
}))

export function knownFinalizer(finalizer: string, resource: string): KnownFinalizer | undefined {
  return patterns.find(({ known, pattern }) => pattern.test(finalizer) && (known.resources?.includes(resource) ?? true))
    ?.known
}

/** Of a finalizer that means something on other resources alone: which. */
export function meantFor(finalizer: string, resource: string): readonly string[] {
  const known = patterns.filter(({ pattern }) => pattern.test(finalizer)).map((one) => one.known.resources)
  return known.includes(undefined) ? [] : known.flatMap((resources = []) => resources).filter((one) => one !== resource)
}

/** What is left by a finalizer that is taken off by hand, where nothing is known of it. */
export const LEAVES_UNKNOWN = 'whatever its controller would have cleaned up'
