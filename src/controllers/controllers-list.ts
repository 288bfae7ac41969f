/** Which controllers the manager runs. */
import { createAttachDetachController } from './attach-detach/attach-detach-controller.ts'
import { createBootstrapSigner } from './bootstrap-tokens/bootstrap-signer-controller.ts'
import { createTokenCleaner } from './bootstrap-tokens/token-cleaner-controller.ts'
import { createCertificateApprover } from './certificates/approving-controller.ts'
import { createCertificateCleaner, createPodCertificateCleaner } from './certificates/expired-request-cleaner.ts'
import { createClusterRoleAggregationController } from './clusterrole-aggregation/clusterrole-aggregation-controller.ts'
import type { Controller, ControllerContext } from './controller.ts'
import { createCronJobController } from './cronjob/cronjob-controller.ts'
import { createDaemonSetController } from './daemonset/daemonset-controller.ts'
import { createDeploymentController } from './deployment/deployment-controller.ts'
import { createDeviceTaintEvictionController } from './device-taint-eviction/device-taint-eviction-controller.ts'
import { createDisruptionController } from './disruption/disruption-controller.ts'
import { createEndpointsController } from './endpoints/endpoints-controller.ts'
import { createEndpointSliceController } from './endpointslice/endpointslice-controller.ts'
import { createEndpointSliceMirroringController } from './endpointslice-mirroring/endpointslicemirroring-controller.ts'
import { createEphemeralVolumeController } from './ephemeral-volume/ephemeral-volume-controller.ts'
import { createJobController } from './job/job-controller.ts'
import { createNamespaceController } from './namespace/namespace-controller.ts'
import { createNodeLifecycleController } from './node-lifecycle/node-lifecycle-controller.ts'
import { createPvBinderController } from './persistentvolume/pv-binder-controller.ts'
import { createExpandController } from './persistentvolume-expander/expand-controller.ts'
import { createPodGarbageCollector } from './pod-garbage-collector/pod-gc-controller.ts'
import { createHpaController } from './podautoscaler/hpa-controller.ts'
import { createReplicaController } from './replicaset/replica-controller.ts'
import { replicaSetFlavor, replicationControllerFlavor } from './replicaset/replicaset-and-replicationcontroller.ts'
import { createResourceClaimController } from './resourceclaim/resourceclaim-controller.ts'
import { createResourceQuotaController } from './resourcequota/resourcequota-controller.ts'
import { createServiceCidrController } from './service-cidr/service-cidr-controller.ts'
import { createLegacyTokenCleaner } from './serviceaccount/legacy-token-cleaner.ts'
import { createServiceAccountController } from './serviceaccount/serviceaccount-controller.ts'
import { createStatefulSetController } from './statefulset/statefulset-controller.ts'
import { createTaintEvictionController } from './taint-eviction/taint-eviction-controller.ts'
import { createTtlController } from './ttl/ttl-controller.ts'
import { createTtlAfterFinishedController } from './ttl-after-finished/ttl-after-finished-controller.ts'
import { createPolicyStatusController } from './validatingadmissionpolicy-status/policy-status-controller.ts'
import { createPvProtectionController } from './volume-protection/pv-protection-controller.ts'
import { createPvcProtectionController } from './volume-protection/pvc-protection-controller.ts'
import { createVacProtectionController } from './volume-protection/vac-protection-controller.ts'

export interface ControllerEntry {
  /** As in --controllers. */
  readonly name: string
  readonly serviceAccount: string
  create(context: ControllerContext): Controller
}

/**
 * All but the garbage collector, the root CA publisher and the signers of certificates and tokens, which the manager makes with
 * what they need besides.
 */
export const controllerEntries: readonly ControllerEntry[] = [
  entry('namespace-controller', 'namespace-controller', createNamespaceController),
  entry('serviceaccount-controller', 'service-account-controller', createServiceAccountController),
  entry('deployment-controller', 'deployment-controller', createDeploymentController),
  entry('replicaset-controller', 'replicaset-controller', (context) =>
    createReplicaController(context, replicaSetFlavor),
  ),
  entry('replicationcontroller-controller', 'replication-controller', (context) =>
    createReplicaController(context, replicationControllerFlavor),
  ),
  entry('node-lifecycle-controller', 'node-controller', (context) =>
    createNodeLifecycleController(context, context.settings?.nodeLifecycle),
  ),
  entry('taint-eviction-controller', 'node-controller', createTaintEvictionController),
  entry('device-taint-eviction-controller', 'device-taint-eviction-controller', createDeviceTaintEvictionController),
  entry(
    'clusterrole-aggregation-controller',
    'clusterrole-aggregation-controller',
    createClusterRoleAggregationController,
  ),
  entry('endpoints-controller', 'endpoint-controller', createEndpointsController),
  entry('endpointslice-controller', 'endpointslice-controller', createEndpointSliceController),
  entry(
    'endpointslice-mirroring-controller',
    'endpointslicemirroring-controller',
    createEndpointSliceMirroringController,
  ),
  entry('job-controller', 'job-controller', createJobController),
  entry('cronjob-controller', 'cronjob-controller', createCronJobController),
  entry('ttl-after-finished-controller', 'ttl-after-finished-controller', createTtlAfterFinishedController),
  entry('persistentvolume-binder-controller', 'persistent-volume-binder', createPvBinderController),
  entry('persistentvolumeclaim-protection-controller', 'pvc-protection-controller', createPvcProtectionController),
  entry('persistentvolume-protection-controller', 'pv-protection-controller', createPvProtectionController),
  entry(
    'volumeattributesclass-protection-controller',
    'volumeattributesclass-protection-controller',
    createVacProtectionController,
  ),
  entry('ephemeral-volume-controller', 'ephemeral-volume-controller', createEphemeralVolumeController),
  entry('horizontal-pod-autoscaler-controller', 'horizontal-pod-autoscaler', (context) => createHpaController(context)),
  entry('disruption-controller', 'disruption-controller', createDisruptionController),
  entry('daemonset-controller', 'daemon-set-controller', createDaemonSetController),
  entry('statefulset-controller', 'statefulset-controller', createStatefulSetController),
  entry('resourceclaim-controller', 'resource-claim-controller', createResourceClaimController),
  entry('resourcequota-controller', 'resourcequota-controller', createResourceQuotaController),
  entry('certificatesigningrequest-approving-controller', 'certificate-controller', createCertificateApprover),
  entry('certificatesigningrequest-cleaner-controller', 'certificate-controller', createCertificateCleaner),
  entry('podcertificaterequest-cleaner-controller', 'podcertificaterequestcleaner', createPodCertificateCleaner),
  entry(
    'validatingadmissionpolicy-status-controller',
    'validatingadmissionpolicy-status-controller',
    createPolicyStatusController,
  ),
  entry('service-cidr-controller', 'service-cidrs-controller', createServiceCidrController),
  entry('ttl-controller', 'ttl-controller', createTtlController),
  entry('pod-garbage-collector-controller', 'pod-garbage-collector', (context) =>
    createPodGarbageCollector(context, context.settings?.podGarbageCollector),
  ),
  entry('bootstrap-signer-controller', 'bootstrap-signer', createBootstrapSigner),
  entry('token-cleaner-controller', 'token-cleaner', createTokenCleaner),
  entry('legacy-serviceaccount-token-cleaner-controller', 'legacy-service-account-token-cleaner', (context) =>
    createLegacyTokenCleaner(context, context.settings?.legacyTokenCleanUpMs),
  ),
  entry('persistentvolume-expander-controller', 'expand-controller', createExpandController),
  entry('persistentvolume-attach-detach-controller', 'attachdetach-controller', (context) =>
    createAttachDetachController(context, context.settings?.attachDetach),
  ),
]

function entry(
  name: string,
  serviceAccount: string,
  create: (context: ControllerContext) => Controller,
): ControllerEntry {
  return { name, serviceAccount, create }
}
