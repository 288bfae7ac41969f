/** Rows of what runs pods: workloads, jobs, autoscalers, disruption budgets. */
import type { Fields, KubeObject } from '../../../api/object.ts'
import {
  age,
  containerImages,
  containerNames,
  firstFew,
  formatLabels,
  formatSelector,
  humanDuration,
  NONE,
} from './format.ts'
import type { Cells, Printer } from './printer.ts'

const list = (value: unknown): readonly Fields[] => (value ?? []) as readonly Fields[]
const name = (object: KubeObject): string => object.metadata.name ?? ''
const created = (object: KubeObject, nowMs: number): string => age(object.metadata.creationTimestamp, nowMs)
const template = (object: KubeObject): Fields | undefined => object['spec']?.template?.spec
const wide = (object: KubeObject): readonly string[] => [
  containerNames(template(object)),
  containerImages(template(object)),
]

function replicas(object: KubeObject, nowMs: number, selector: string): Cells {
  const status: Fields = object['status'] ?? {}
  return [
    name(object),
    object['spec']?.replicas ?? 0,
    status['replicas'] ?? 0,
    status['readyReplicas'] ?? 0,
    created(object, nowMs),
    ...wide(object),
    selector,
  ]
}

function jobStatus(job: KubeObject): string {
  const conditions = list(job['status']?.conditions)
  const holds = (type: string) =>
    conditions.some((condition) => condition['type'] === type && condition['status'] === 'True')
  if (holds('Complete')) return 'Complete'
  if (holds('Failed')) return 'Failed'
  if (job.metadata.deletionTimestamp) return 'Terminating'
  if (holds('Suspended')) return 'Suspended'
  if (holds('FailureTarget')) return 'FailureTarget'
  if (holds('SuccessCriteriaMet')) return 'SuccessCriteriaMet'
  return 'Running'
}

function jobCompletions(job: KubeObject): string {
  const spec: Fields = job['spec'] ?? {}
  const succeeded = job['status']?.succeeded ?? 0
  if (spec['completions'] !== undefined) return `${succeeded}/${spec['completions']}`
  const parallelism = spec['parallelism'] ?? 0
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(job: KubeObject, nowMs: number): string {
  const { startTime, completionTime } = (job['status'] ?? {}) as Fields
  if (!startTime) return ''
  return humanDuration((completionTime ? Date.parse(completionTime) : nowMs) - Date.parse(startTime))
}

/** `cpu: 10%/70%` for each metric, the current value first. */
function metrics(autoscaler: KubeObject): string {
  const specs = metricSpecs(autoscaler)
  if (specs.length === 0) return NONE
  const currents = list(autoscaler['status']?.currentMetrics)
  const texts = specs.map((spec, i) => metric(spec, currents[i]))
  return firstFew(texts, 2, ', ')
}

/** autoscaling/v1 knows one metric, by a field of its own. */
function metricSpecs(autoscaler: KubeObject): readonly Fields[] {
  const spec: Fields = autoscaler['spec'] ?? {}
  const percentage = spec['targetCPUUtilizationPercentage']
  if (percentage === undefined) return list(spec['metrics'])
  return [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percentage } } },
  ]
}

const SOURCES: Readonly<Record<string, string>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
}

function metric(spec: Fields, current: Fields | undefined): string {
  const field = SOURCES[spec['type']]
  if (field === undefined) return '<unknown type>'
  const source: Fields = spec[field] ?? {}
  const target: Fields = source['target'] ?? {}
  const now: Fields | undefined = current?.[field]?.current
  const isResource = spec['type'] === 'Resource' || spec['type'] === 'ContainerResource'
  if (isResource) {
    const label = `${source['name']}: `
    if (target['averageValue'] !== undefined)
      return `${label}${now?.['averageValue'] ?? '<unknown>'}/${target['averageValue']}`
    const utilization = now?.['averageUtilization']
    return `${label}${utilization === undefined ? '<unknown>' : `${utilization}%`}/${target['averageUtilization'] ?? '<auto>'}%`
  }
  if (target['averageValue'] !== undefined)
    return `${now?.['averageValue'] ?? '<unknown>'}/${target['averageValue']}${spec['type'] === 'Pods' ? '' : ' (avg)'}`
  return `${now?.['value'] ?? '<unknown>'}/${target['value']}`
}

const printAutoscaler: Printer = (o, now) => {
  const spec: Fields = o['spec'] ?? {}
  const target: Fields = spec['scaleTargetRef'] ?? {}
  return [
    name(o),
    `${target['kind']}/${target['name']}`,
    metrics(o),
    spec['minReplicas'] === undefined ? '<unset>' : String(spec['minReplicas']),
    spec['maxReplicas'] ?? 0,
    o['status']?.currentReplicas ?? 0,
    created(o, now),
  ]
}

export const workloadPrinters: Readonly<Record<string, Printer>> = {
  '/podtemplates': (o) => [
    name(o),
    containerNames(o['template']?.spec),
    containerImages(o['template']?.spec),
    formatLabels(o['template']?.metadata?.labels),
  ],
  '/replicationcontrollers': (o, now) => replicas(o, now, formatLabels(o['spec']?.selector)),
  'apps/replicasets': (o, now) => replicas(o, now, formatSelector(o['spec']?.selector)),
  'apps/deployments': (o, now) => {
    const status: Fields = o['status'] ?? {}
    return [
      name(o),
      `${status['readyReplicas'] ?? 0}/${o['spec']?.replicas ?? 0}`,
      status['updatedReplicas'] ?? 0,
      status['availableReplicas'] ?? 0,
      created(o, now),
      ...wide(o),
      formatSelector(o['spec']?.selector),
    ]
  },
  'apps/statefulsets': (o, now) => [
    name(o),
    `${o['status']?.readyReplicas ?? 0}/${o['spec']?.replicas ?? 0}`,
    created(o, now),
    ...wide(o),
  ],
  'apps/daemonsets': (o, now) => {
    const status: Fields = o['status'] ?? {}
    return [
      name(o),
      status['desiredNumberScheduled'] ?? 0,
      status['currentNumberScheduled'] ?? 0,
      status['numberReady'] ?? 0,
      status['updatedNumberScheduled'] ?? 0,
      status['numberAvailable'] ?? 0,
      formatLabels(template(o)?.['nodeSelector']),
      created(o, now),
      ...wide(o),
      formatSelector(o['spec']?.selector),
    ]
  },
  'apps/controllerrevisions': (o, now) => {
    const owner = o.metadata.ownerReferences?.find((reference) => reference.controller)
    const { group } = splitApiVersion(owner?.apiVersion ?? '')
    return [
      name(o),
      owner ? `${owner.kind.toLowerCase()}${group ? `.${group}` : ''}/${owner.name}` : NONE,
      o['revision'] ?? 0,
      created(o, now),
    ]
  },
  'batch/jobs': (o, now) => [
    name(o),
    jobStatus(o),
    jobCompletions(o),
    jobDuration(o, now),
    created(o, now),
    ...wide(o),
    formatSelector(o['spec']?.selector),
  ],
  'batch/cronjobs': (o, now) => {
    const spec: Fields = o['spec'] ?? {}
    const pod: Fields | undefined = spec['jobTemplate']?.spec?.template?.spec
    const last: string | undefined = o['status']?.lastScheduleTime
    return [
      name(o),
      spec['schedule'] ?? '',
      spec['timeZone'] ?? NONE,
      spec['suspend'] === undefined ? NONE : spec['suspend'] ? 'True' : 'False',
      list(o['status']?.active).length,
      last ? age(last, now) : NONE,
      created(o, now),
      containerNames(pod),
      containerImages(pod),
      formatSelector(spec['jobTemplate']?.spec?.selector),
    ]
  },
  'autoscaling/horizontalpodautoscalers': printAutoscaler,
  'autoscaling/scales': (o, now) => [name(o), o['spec']?.replicas ?? 0, o['status']?.replicas ?? 0, created(o, now)],
  'policy/poddisruptionbudgets': (o, now) => [
    name(o),
    o['spec']?.minAvailable === undefined ? 'N/A' : String(o['spec'].minAvailable),
    o['spec']?.maxUnavailable === undefined ? 'N/A' : String(o['spec'].maxUnavailable),
    o['status']?.disruptionsAllowed ?? 0,
    created(o, now),
  ],
}

function splitApiVersion(apiVersion: string): { group: string } {
  const slash = apiVersion.indexOf('/')
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash) }
}
