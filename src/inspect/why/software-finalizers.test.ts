/** Finalizers as the software that has them writes them, each with what is known of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KNOWN_FINALIZERS, knownFinalizer } from './known-finalizers.ts'
import { KUBERNETES_FINALIZERS } from './kubernetes-finalizers.ts'
import { SOFTWARE_FINALIZERS } from './software-finalizers.ts'

interface Met {
  readonly finalizer: string
  readonly resource: string
  readonly controller: RegExp
  /** A workload or component that it runs in. */
  readonly runsIn: string
  readonly leaves: RegExp
  readonly follow?: string
  readonly isGuest?: true
}

const met = (
  finalizer: string,
  resource: string,
  controller: RegExp,
  runsIn: string,
  leaves: RegExp,
  more: Pick<Met, 'follow' | 'isGuest'> = {},
): Met => ({ finalizer, resource, controller, runsIn, leaves, ...more })

const AWS = /AWS Load Balancer/
const KCM = 'kube-controller-manager'
const guest = { isGuest: true } as const

const MET: readonly Met[] = [
  met('foregroundDeletion', 'deployments', /garbage collector/, KCM, /dependents stay/, { follow: 'foreground' }),
  met('orphan', 'deployments', /garbage collector/, KCM, /dependents/, { follow: 'orphan' }),
  met('kubernetes.io/pvc-protection', 'persistentvolumeclaims', /pvc-protection/, KCM, /volume/, { follow: 'claim' }),
  met('kubernetes.io/pv-protection', 'persistentvolumes', /pv-protection/, KCM, /Lost/, { follow: 'volume' }),
  met('kubernetes.io/vac-protection', 'volumeattributesclasses', /volumeattributesclass/, KCM, /class/, {
    follow: 'volume-class',
  }),
  met('resource.kubernetes.io/delete-protection', 'resourceclaims', /resourceclaim/, KCM, /devices/, {
    follow: 'reservations',
  }),
  met('networking.k8s.io/service-cidr-finalizer', 'servicecidrs', /service-cidr/, KCM, /addresses/, {
    follow: 'addresses',
  }),
  met('external-attacher/ebs-csi-aws-com', 'persistentvolumes', /external-attacher/, 'csi-attacher', /attached/, {
    follow: 'attachments',
  }),
  met('external-attacher/ebs-csi-aws-com', 'volumeattachments', /external-attacher/, 'csi-attacher', /attached/, {
    follow: 'attachment',
  }),
  met(
    'external-provisioner.volume.kubernetes.io/finalizer',
    'persistentvolumes',
    /provisioner/,
    'csi-provisioner',
    /disk/,
  ),
  met('kubernetes.io/pv-controller', 'persistentvolumes', /binder/, KCM, /disk/),
  met(
    'provisioner.storage.kubernetes.io/cloning-protection',
    'persistentvolumeclaims',
    /provisioner/,
    'csi-provisioner',
    /copy/,
    {
      follow: 'copies',
    },
  ),
  met(
    'snapshot.storage.kubernetes.io/pvc-as-source-protection',
    'persistentvolumeclaims',
    /snapshot/,
    'snapshot-controller',
    /snapshot/,
    {
      follow: 'copies',
    },
  ),
  met('batch.kubernetes.io/job-tracking', 'pods', /job-controller/, KCM, /Job/),
  met(
    'service.kubernetes.io/load-balancer-cleanup',
    'services',
    /service controller/,
    'cloud-controller-manager',
    /load balancer/,
  ),
  met(
    'customresourcecleanup.apiextensions.k8s.io',
    'customresourcedefinitions',
    /API server/,
    'kube-apiserver',
    /instances/,
    {
      follow: 'instances',
    },
  ),
  met('service.k8s.aws/resources', 'services', AWS, 'aws-load-balancer-controller', /load balancer/),
  met('ingress.k8s.aws/resources', 'ingresses', AWS, 'aws-load-balancer-controller', /security groups/),
  met('group.ingress.k8s.aws/shared', 'ingresses', AWS, 'aws-load-balancer-controller', /load balancer/),
  met('elbv2.k8s.aws/resources', 'targetgroupbindings', AWS, 'aws-load-balancer-controller', /target groups/),
  met('networking.gke.io/ingress-finalizer-V2', 'ingresses', /GKE/, 'l7-lb-controller', /forwarding rules/),
  met('controller.cattle.io/namespace-auth', 'namespaces', /Rancher/, 'rancher', /role bindings/),
  met(
    'resources-finalizer.argocd.argoproj.io',
    'appprojects',
    /Argo CD/,
    'argocd-application-controller',
    /Applications whose project/,
    {
      follow: 'users',
    },
  ),
  met(
    'resources-finalizer.argocd.argoproj.io/background',
    'applications',
    /Argo CD/,
    'argocd-application-controller',
    /deployed/,
  ),
  met('post-delete-finalizer.argocd.argoproj.io', 'applications', /Argo CD/, 'argocd-application-controller', /hooks/),
  met('finalizer.acme.cert-manager.io', 'challenges', /cert-manager/, 'cert-manager', /DNS record/, {
    follow: 'owners',
  }),
  met('acme.cert-manager.io/finalizer', 'challenges', /cert-manager/, 'cert-manager', /DNS record/, {
    follow: 'owners',
  }),
  met('in-use.crossplane.io', 'providerconfigs', /Crossplane/, 'crossplane', /what uses it/),
  met('finalizer.managedresource.crossplane.io', 'buckets', /Crossplane/, 'provider-aws-s3', /external resource/),
  met('karpenter.sh/termination', 'nodeclaims', /Karpenter/, 'karpenter', /machine goes on/, { follow: 'drain' }),
  met('karpenter.k8s.aws/termination', 'ec2nodeclasses', /Karpenter/, 'karpenter', /instance profiles/, {
    follow: 'users',
  }),
  met('chains.tekton.dev', 'taskruns', /Chains/, 'tekton-chains-controller', /not signed/, guest),
  met('results.tekton.dev/taskrun', 'taskruns', /Results/, 'tekton-results-watcher', /not stored/, guest),
  met('strimzi.io/topic-operator', 'kafkatopics', /topic operator/, 'main-entity-operator', /topic in Kafka/, guest),
  met('velero.io/data-upload-download-finalizer', 'datauploads', /Velero/, 'node-agent', /snapshots/, guest),
  met('velero.io/pod-volume-finalizer', 'podvolumebackups', /Velero/, 'node-agent', /pods/, guest),
  met('workflows.argoproj.io/status', 'pods', /Argo Workflows/, 'workflow-controller', /artifacts/),
  met('argocd.argoproj.io/hook-finalizer', 'jobs', /Argo CD/, 'argocd-application-controller', /sync/),
  met('finalizer.keda.sh', 'scaledobjects', /KEDA/, 'keda-operator', /scale/),
  met(
    'cluster.open-cluster-management.io/manifest-work-cleanup',
    'manifestworks',
    /work agent/,
    'klusterlet-work-agent',
    /managed cluster/,
    guest,
  ),
  met(
    'cluster.open-cluster-management.io/api-resource-cleanup',
    'managedclusters',
    /Open Cluster Management/,
    'cluster-manager',
    /managed cluster/,
  ),
  met('machine.cluster.x-k8s.io', 'machines', /Cluster API/, 'capi-controller-manager', /machine goes on/, {
    follow: 'drain',
  }),
  met(
    'awscluster.infrastructure.cluster.x-k8s.io',
    'awsclusters',
    /Cluster API/,
    'capa-controller-manager',
    /networks/,
  ),
  met('longhorn.io', 'volumes', /Longhorn/, 'longhorn-manager', /replicas/),
  met(
    'foregroundDeleteVirtualMachine',
    'virtualmachineinstances',
    /KubeVirt/,
    'virt-controller',
    /pods of the virtual machine/,
  ),
  met(
    'kubevirt.io/virtualMachineControllerFinalize',
    'virtualmachines',
    /KubeVirt/,
    'virt-controller',
    /pods of the virtual machine/,
  ),
  met('finalizers.fluxcd.io', 'kustomizations', /Flux/, 'kustomize-controller', /deployed/),
  met('ray.io/gcs-ft-redis-cleanup-finalizer', 'rayclusters', /KubeRay/, 'kuberay-operator', /Redis/),
  met('wrangler.cattle.io/mgmt-cluster-remove', 'clusters', /Rancher/, 'rancher', /made for the object/),
  met('tigera.io/cni-protector', 'installations', /Tigera/, 'tigera-operator', /Calico/),
  met('kopf.zalando.org/KopfFinalizerMarker', 'kopfexamples', /kopf/, 'kopf-operator', /handlers/),
]

for (const { finalizer, resource, controller, runsIn, leaves, follow, isGuest } of MET)
  test(`${finalizer} of ${resource}: its controller, where that runs, what it waits for and what is left`, () => {
    const known = knownFinalizer(finalizer, resource)
    assert.match(known?.controller ?? '', controller)
    assert.match(known?.leaves ?? '', leaves)
    assert.ok((known?.does ?? '').length > 10)
    assert.equal(known?.follow, follow)
    assert.equal(known?.isGuest, isGuest)
    const places = known?.runsIn
    if (typeof places === 'string') assert.equal(places, runsIn)
    else assert.ok(places?.some((one) => runsIn.includes(one)))
  })

test('each row is met: none stands behind another that takes its finalizers', () => {
  const used = new Set(MET.map(({ finalizer, resource }) => knownFinalizer(finalizer, resource)))
  assert.deepEqual(
    KNOWN_FINALIZERS.filter((known) => !used.has(known)).map(({ finalizer }) => finalizer),
    [],
  )
})

test('what belongs to software of a family is no more than its own', () => {
  for (const known of SOFTWARE_FINALIZERS) assert.ok(Array.isArray(known.runsIn) && known.runsIn.length > 0)
  // A controller of kube-controller-manager has an account of its own.
  for (const { runsIn, account, finalizer } of KUBERNETES_FINALIZERS)
    assert.equal(account !== undefined, runsIn === 'kube-controller-manager', finalizer)
  assert.equal(knownFinalizer('xlonghorn.io', 'volumes'), undefined)
  assert.equal(knownFinalizer('longhorn.iox', 'volumes'), undefined)
  assert.equal(knownFinalizer('finalizerxkeda.sh', 'scaledobjects'), undefined)
})
