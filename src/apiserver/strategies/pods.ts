/** Pod, and its subresources status, ephemeralcontainers, resize and binding. */
import type { Container, Pod, PodSpec } from '../../api/generated/types.ts'
import { withMetadata } from '../../api/metadata.ts'
import type { Fields } from '../../api/object.ts'
import { withPodLevelDefaults } from '../../api/objects/pod-level-resources.ts'
import { qosClass } from '../../api/objects/qos.ts'
import { same } from '../../api/validation/common.ts'
import { validatePodResize } from '../../api/validation/pod-resize.ts'
import {
  validateEphemeralContainersUpdate,
  validatePodStatusUpdate,
  validatePodUpdate,
} from '../../api/validation/pod-updates.ts'
import { appArmorWarnings, podWarnings } from '../../api/validation/pod-warnings.ts'
import { validatePod } from '../../api/validation/pods.ts'
import type { DeleteOptions, Strategy, StrategyContext } from '../registry/strategy.ts'
import { createdWith, JUDGES_FINALIZERS_FIRST, nextGeneration, withFieldOf } from './common.ts'
import { withAppArmorField, withMatchLabelKeys } from './pod-preparation.ts'

function prepareForCreate(pod: Pod, context: StrategyContext): Pod {
  for (const warning of appArmorWarnings(pod.spec ?? {}, pod.metadata.annotations ?? {}, 'metadata'))
    context.warn?.(warning)
  const spec: Partial<PodSpec> = pod.spec ?? {}
  const gated = {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: context.now,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  }
  const status = {
    phase: 'Pending',
    qosClass: context.parts.once(spec, qosOf),
    ...(spec.schedulingGates?.length ? { conditions: [gated] } : {}),
  }
  return withPositiveGrace(withAppArmorField(withMatchLabelKeys(withOwnRequests(createdWith(pod, status)))))
}

const qosOf = (spec: Fields) => qosClass(withPodLevelDefaults(spec))

/** Counted once admission has said what the containers ask for. */
function withOwnRequests(pod: Pod): Pod {
  const spec = withPodLevelDefaults(pod.spec ?? {}) as PodSpec
  return spec === pod.spec ? pod : { ...pod, spec }
}

/** A negative grace period has always meant the shortest one. */
function withPositiveGrace(pod: Pod): Pod {
  return pod.spec !== undefined && (pod.spec.terminationGracePeriodSeconds ?? 0) < 0
    ? { ...pod, spec: { ...pod.spec, terminationGracePeriodSeconds: 1 } }
    : pod
}

function specGeneration(pod: Pod, old: Pod): Pod {
  return nextGeneration(pod, old, !same(pod.spec, old.spec))
}

/** Seconds to wait: what was asked, else what the pod says; none for a pod that no node runs (any longer). */
function gracePeriod(pod: Pod, options: DeleteOptions): number {
  const asked: number | undefined = options.gracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds
  const phase = pod.status?.phase
  if (!pod.spec?.nodeName || phase === 'Failed' || phase === 'Succeeded') return 0
  if (asked === undefined) return 0
  return asked < 0 ? 1 : asked
}

function selectableFields(pod: Pod): Readonly<Record<string, string>> {
  const spec = pod.spec
  const status = pod.status
  const ips = status?.podIPs ?? []
  return {
    'spec.nodeName': spec?.nodeName ?? '',
    'spec.restartPolicy': spec?.restartPolicy ?? '',
    'spec.schedulerName': spec?.schedulerName ?? '',
    'spec.serviceAccountName': spec?.serviceAccountName ?? '',
    'spec.hostNetwork': String(spec?.hostNetwork === true),
    'status.phase': status?.phase ?? '',
    'status.podIP': ips[0]?.ip ?? status?.podIP ?? '',
    'status.podIPs': ips[0]?.ip ?? status?.podIP ?? '',
    'status.nominatedNodeName': status?.nominatedNodeName ?? '',
  }
}

/** Only the status and what a kubelet may touch of the metadata. */
function prepareForStatusUpdate(pod: Pod, old: Pod): Pod {
  const kept = withFieldOf(pod, old, 'spec')
  const status = kept.status
  const withQos =
    status?.qosClass || !old.status?.qosClass ? kept : { ...kept, status: { ...status, qosClass: old.status.qosClass } }
  const ownersKept =
    withQos.metadata.ownerReferences === old.metadata.ownerReferences
      ? withQos
      : withMetadata(withQos, { ownerReferences: old.metadata.ownerReferences })
  return ownersKept
}

/** Only spec.ephemeralContainers. */
function prepareForEphemeralContainers(pod: Pod, old: Pod): Pod {
  const { ephemeralContainers, ...rest } = old.spec!
  const added = pod.spec?.ephemeralContainers
  const spec = added === undefined ? rest : { ...rest, ephemeralContainers: added }
  return specGeneration(withResourceVersion({ ...old, spec: same(spec, old.spec) ? old.spec! : spec }, pod), old)
}

/** The old object as the client wants it written: what names the version and the managers is the client's. */
function withResourceVersion(old: Pod, pod: Pod): Pod {
  return withMetadata(old, {
    resourceVersion: pod.metadata.resourceVersion,
    managedFields: pod.metadata.managedFields,
  })
}

/** Only resources and the containers' resize policies (KEP-1287). A container that is not there yet is left to be refused. */
function prepareForResize(sent: Pod, old: Pod): Pod {
  const pod = withOwnRequests(sent)
  const resized = (list: 'containers' | 'initContainers') => {
    // null is what a client may send for an empty list.
    const wanted: readonly Container[] | null | undefined = pod.spec?.[list]
    if (wanted === null) return { [list]: [] }
    return wanted === undefined ? {} : { [list]: wanted.map((container) => sized(container, old.spec?.[list])) }
  }
  const { initContainers: _, ...before } = old.spec!
  const resources = pod.spec?.resources
  const spec = {
    ...before,
    ...resized('containers'),
    ...resized('initContainers'),
    ...(resources === undefined ? {} : { resources }),
  }
  return specGeneration(withResourceVersion({ ...old, spec: same(spec, old.spec) ? old.spec! : spec }, pod), old)
}

function sized(wanted: Container, all: readonly Container[] | undefined): Container {
  const before = all?.find(({ name }) => name === wanted.name)
  if (before === undefined) return wanted
  const { resources, resizePolicy } = wanted
  const { resizePolicy: _, ...rest } = before
  return { ...rest, resources: resources ?? {}, ...(resizePolicy === undefined ? {} : { resizePolicy }) }
}

export const pods: Strategy<Pod> = {
  ...JUDGES_FINALIZERS_FIRST,
  prepareForCreate,
  validate: (pod, { parts }) => validatePod(pod, parts),
  // At updates Kubernetes tells none of them: pods are mostly written by what reads no warnings.
  warningsOnCreate: (pod, { parts }) => podWarnings(pod, parts),
  prepareForUpdate: (pod, old) => specGeneration(withPositiveGrace(withFieldOf(pod, old, 'status')), old),
  validateUpdate: (pod, old, { parts }) => validatePodUpdate(pod, old, parts),
  resetFields: [['f:status']],
  gracePeriod,
  returnDeletedObject: true,
  defaultGarbageCollectionPolicy: 'DeleteDependents',
  selectableFields,
  indexedFields: ['spec.nodeName'],
  fieldLabels: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.podIPs',
    'status.nominatedNodeName',
  ],
  status: {
    prepareForUpdate: prepareForStatusUpdate,
    validateUpdate: (pod, old) => validatePodStatusUpdate(pod, old),
    resetFields: [['f:spec'], ['f:metadata', 'f:deletionTimestamp'], ['f:metadata', 'f:ownerReferences']],
  },
  subresources: {
    ephemeralcontainers: {
      prepareForUpdate: prepareForEphemeralContainers,
      validateUpdate: (pod, old) => validateEphemeralContainersUpdate(pod, old),
      resetFields: [['f:status']],
    },
    resize: {
      prepareForUpdate: prepareForResize,
      validateUpdate: (pod, old) => validatePodResize(pod, old),
      resetFields: [['f:status']],
    },
    /** The scheduler's choice: a node and the condition that says so. */
    binding: {
      prepareForUpdate: (pod) => pod,
      validateUpdate: () => [],
    },
  },
}
