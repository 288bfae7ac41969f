/** Rows of what runs pods: workloads, jobs, autoscalers, disruption budgets. */
import type {
  AutoscalingV1HorizontalPodAutoscalerSpec,
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
  Job,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  PodDisruptionBudget,
  PodSpec,
  PodTemplate,
  ReplicaSet,
  ReplicationController,
  Scale,
  StatefulSet,
} from '../../../api/generated/types.ts'
import type { ObjectMeta } from '../../../api/object.ts'
import {
  age,
  containerImages,
  containerNames,
  firstFew,
  formatLabels,
  formatSelector,
  humanDuration,
  listOf,
  NONE,
  objectAge,
  objectName,
  UNSET,
} from './format.ts'
import type { Cells, Printer } from './printer.ts'

type Replicated = ReplicaSet | ReplicationController
type Templated = Replicated | DaemonSet | Deployment | Job | StatefulSet

const template = (object: Templated): PodSpec | undefined => object.spec?.template?.spec
const wide = (object: Templated): readonly string[] => [
  containerNames(template(object)),
  containerImages(template(object)),
]

function replicas(object: Replicated, nowMs: number, selector: string): Cells {
  const status = object.status
  return [
    objectName(object),
    object.spec?.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    objectAge(object, nowMs),
    ...wide(object),
    selector,
  ]
}

function jobStatus(job: Job): string {
  const conditions = listOf(job.status?.conditions)
  const holds = (type: string) => conditions.some((condition) => condition.type === type && condition.status === 'True')
  if (holds('Complete')) return 'Complete'
  if (holds('Failed')) return 'Failed'
  if (job.metadata.deletionTimestamp) return 'Terminating'
  if (holds('Suspended')) return 'Suspended'
  if (holds('FailureTarget')) return 'FailureTarget'
  if (holds('SuccessCriteriaMet')) return 'SuccessCriteriaMet'
  return 'Running'
}

function jobCompletions(job: Job): string {
  const spec = job.spec
  const succeeded = job.status?.succeeded ?? 0
  if (spec?.completions !== undefined) return `${succeeded}/${spec?.completions}`
  const parallelism = spec?.parallelism ?? 0
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(job: Job, nowMs: number): string {
  const { startTime, completionTime } = job.status ?? {}
  if (!startTime) return ''
  return humanDuration((completionTime ? Date.parse(completionTime) : nowMs) - Date.parse(startTime))
}

/** Of either version: each has fields that the other has not. */
type Autoscaler = {
  readonly metadata: ObjectMeta
  readonly spec?: Partial<HorizontalPodAutoscalerSpec & AutoscalingV1HorizontalPodAutoscalerSpec>
  readonly status?: Partial<HorizontalPodAutoscalerStatus>
}

/** `cpu: 10%/70%` for each metric, the current value first. */
function metrics(autoscaler: Autoscaler): string {
  const specs = metricSpecs(autoscaler)
  if (specs.length === 0) return NONE
  const currents = listOf(autoscaler.status?.currentMetrics)
  const texts = specs.map((spec, i) => metric(spec, currents[i]))
  return firstFew(texts, 2, ', ')
}

/** autoscaling/v1 knows one metric, by a field of its own. */
function metricSpecs(autoscaler: Autoscaler): readonly MetricSpec[] {
  const { spec } = autoscaler
  const percentage = spec?.targetCPUUtilizationPercentage
  if (percentage === undefined) return listOf(spec?.metrics)
  return [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percentage } } },
  ]
}

const SOURCES: Readonly<Record<string, 'external' | 'pods' | 'object' | 'resource' | 'containerResource'>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
}

function metric(spec: MetricSpec, current: MetricStatus | undefined): string {
  const field = SOURCES[spec.type]
  if (field === undefined) return '<unknown type>'
  const target: Partial<MetricTarget> = spec[field]?.target ?? {}
  const now = current?.[field]?.current
  if (field === 'resource' || field === 'containerResource') {
    const label = `${spec[field]?.name}: `
    if (target.averageValue !== undefined) return `${label}${now?.averageValue ?? '<unknown>'}/${target.averageValue}`
    const utilization = now?.averageUtilization
    return `${label}${utilization === undefined ? '<unknown>' : `${utilization}%`}/${target.averageUtilization ?? '<auto>'}%`
  }
  if (target.averageValue !== undefined)
    return `${now?.averageValue ?? '<unknown>'}/${target.averageValue}${spec.type === 'Pods' ? '' : ' (avg)'}`
  return `${now?.value ?? '<unknown>'}/${target.value}`
}

const printAutoscaler = (o: Autoscaler, now: number): Cells => {
  const spec = o.spec
  const target = spec?.scaleTargetRef
  return [
    o.metadata.name ?? '',
    `${target?.kind}/${target?.name}`,
    metrics(o),
    spec?.minReplicas === undefined ? '<unset>' : String(spec?.minReplicas),
    spec?.maxReplicas ?? 0,
    o.status?.currentReplicas ?? 0,
    age(o.metadata.creationTimestamp, now),
  ]
}

export const workloadPrinters: Readonly<Record<string, Printer>> = {
  '/podtemplates': (o: PodTemplate) => [
    objectName(o),
    containerNames(o.template?.spec),
    containerImages(o.template?.spec),
    formatLabels(o.template?.metadata?.labels),
  ],
  '/replicationcontrollers': (o: ReplicationController, now) => replicas(o, now, formatLabels(o.spec?.selector)),
  'apps/replicasets': (o: ReplicaSet, now) => replicas(o, now, formatSelector(o.spec?.selector)),
  'apps/deployments': (o: Deployment, now) => {
    const status = o.status
    return [
      objectName(o),
      `${status?.readyReplicas ?? 0}/${o.spec?.replicas ?? 0}`,
      status?.updatedReplicas ?? 0,
      status?.availableReplicas ?? 0,
      objectAge(o, now),
      ...wide(o),
      o.spec?.selector ? formatSelector(o.spec.selector) : '',
    ]
  },
  'apps/statefulsets': (o: StatefulSet, now) => [
    objectName(o),
    `${o.status?.readyReplicas ?? 0}/${o.spec?.replicas ?? 0}`,
    objectAge(o, now),
    ...wide(o),
  ],
  'apps/daemonsets': (o: DaemonSet, now) => {
    const status = o.status
    return [
      objectName(o),
      status?.desiredNumberScheduled ?? 0,
      status?.currentNumberScheduled ?? 0,
      status?.numberReady ?? 0,
      status?.updatedNumberScheduled ?? 0,
      status?.numberAvailable ?? 0,
      formatLabels(template(o)?.nodeSelector),
      objectAge(o, now),
      ...wide(o),
      formatSelector(o.spec?.selector),
    ]
  },
  'apps/controllerrevisions': (o: ControllerRevision, now) => {
    const owner = o.metadata.ownerReferences?.find((reference) => reference.controller)
    const { group } = splitApiVersion(owner?.apiVersion ?? '')
    return [
      objectName(o),
      owner ? `${owner.kind.toLowerCase()}${group ? `.${group}` : ''}/${owner.name}` : NONE,
      o.revision ?? 0,
      objectAge(o, now),
    ]
  },
  'batch/jobs': (o: Job, now) => [
    objectName(o),
    jobStatus(o),
    jobCompletions(o),
    jobDuration(o, now),
    objectAge(o, now),
    ...wide(o),
    formatSelector(o.spec?.selector),
  ],
  'batch/cronjobs': (o: CronJob, now) => {
    const spec = o.spec
    const pod = spec?.jobTemplate?.spec?.template?.spec
    const last: string | undefined = o.status?.lastScheduleTime
    return [
      objectName(o),
      spec?.schedule ?? '',
      spec?.timeZone ?? NONE,
      spec?.suspend === undefined ? UNSET : spec?.suspend ? 'True' : 'False',
      listOf(o.status?.active).length,
      last ? age(last, now) : NONE,
      objectAge(o, now),
      containerNames(pod),
      containerImages(pod),
      formatSelector(spec?.jobTemplate?.spec?.selector),
    ]
  },
  'autoscaling/horizontalpodautoscalers': printAutoscaler,
  'autoscaling/scales': (o: Scale, now) => [
    objectName(o),
    o.spec?.replicas ?? 0,
    o.status?.replicas ?? 0,
    objectAge(o, now),
  ],
  'policy/poddisruptionbudgets': (o: PodDisruptionBudget, now) => [
    objectName(o),
    o.spec?.minAvailable === undefined ? 'N/A' : String(o.spec.minAvailable),
    o.spec?.maxUnavailable === undefined ? 'N/A' : String(o.spec.maxUnavailable),
    o.status?.disruptionsAllowed ?? 0,
    objectAge(o, now),
  ],
}

function splitApiVersion(apiVersion: string): { group: string } {
  const slash = apiVersion.indexOf('/')
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash) }
}
