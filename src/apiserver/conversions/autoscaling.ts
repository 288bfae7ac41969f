/**
 * HorizontalPodAutoscaler between autoscaling/v1 and v2. What v1 has no field for travels in annotations, as in Kubernetes
 * (autoscaling.alpha.kubernetes.io/…), so nothing is lost on the way there and back.
 */
import type {
  AutoscalingV1HorizontalPodAutoscaler,
  AutoscalingV1HorizontalPodAutoscalerSpec,
  AutoscalingV1HorizontalPodAutoscalerStatus,
  ContainerResourceMetricSource,
  ContainerResourceMetricStatus,
  ExternalMetricSource,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
  ObjectMetricSource,
  PodsMetricSource,
} from '../../api/generated/types.ts'
import { withMetadata } from '../../api/metadata.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import {
  AUTOSCALER_FIELDS,
  AUTOSCALER_BEHAVIOR as BEHAVIOR,
  AUTOSCALER_CONDITIONS as CONDITIONS,
  AUTOSCALER_CURRENT as CURRENT,
  annotatedList as listIn,
  AUTOSCALER_METRICS as METRICS,
  annotatedObject as objectIn,
} from '../../api/objects/annotated-fields.ts'
import { asObject } from '../../api/unchecked.ts'

export function convertAutoscaling(object: KubeObject, apiVersion: string): KubeObject {
  return apiVersion.endsWith('/v1') ? toV1(object, apiVersion) : toV2(object, apiVersion)
}

const isCpuUtilization = ({ type, resource }: MetricSpec | MetricStatus) =>
  type === 'Resource' && resource?.name === 'cpu'

function toV2(object: AutoscalingV1HorizontalPodAutoscaler, apiVersion: string): KubeObject {
  const spec: Partial<AutoscalingV1HorizontalPodAutoscalerSpec> = object.spec ?? {}
  const status: Partial<AutoscalingV1HorizontalPodAutoscalerStatus> = object.status ?? {}
  const annotations: Readonly<Record<string, string>> = object.metadata.annotations ?? {}
  const { targetCPUUtilizationPercentage: target, ...rest } = spec
  const { currentCPUUtilizationPercentage: current, ...statusRest } = status
  const cpu =
    target === undefined
      ? []
      : [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } },
          },
        ]
  const others = listIn(annotations, METRICS).map(metricToV2)
  const metrics = [...others, ...cpu]
  const currentCpu =
    current === undefined
      ? []
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }]
  // The annotation holds them all, and what the field says besides does not count.
  const annotated = listIn(annotations, CURRENT).map(currentToV2)
  const currentMetrics = annotated.length > 0 ? annotated : currentCpu
  const conditions = listIn(annotations, CONDITIONS)
  const behavior = objectIn(annotations, BEHAVIOR)
  const kept = Object.fromEntries(Object.entries(annotations).filter(([name]) => !AUTOSCALER_FIELDS.includes(name)))
  return {
    ...withAnnotations(object, kept),
    apiVersion,
    spec: {
      ...rest,
      ...(metrics.length === 0 ? {} : { metrics }),
      ...(behavior === undefined ? {} : { behavior }),
    },
    status: {
      ...statusRest,
      currentMetrics: currentMetrics.length === 0 ? null : currentMetrics,
      ...(conditions.length === 0 ? {} : { conditions }),
      ...(statusRest['currentReplicas'] === 0 ? { currentReplicas: undefined } : {}),
    },
  }
}

function toV1(object: HorizontalPodAutoscaler, apiVersion: string): KubeObject {
  const { metrics = [], behavior, ...spec }: Partial<HorizontalPodAutoscalerSpec> = object.spec ?? {}
  const { currentMetrics, conditions, ...status }: Partial<HorizontalPodAutoscalerStatus> = object.status ?? {}
  const cpu = metrics.find(
    (metric) => isCpuUtilization(metric) && metric.resource?.target?.averageUtilization !== undefined,
  )
  const others = metrics.filter((metric) => metric !== cpu)
  const current = (currentMetrics ?? []).find(
    (metric) => isCpuUtilization(metric) && metric.resource?.current?.averageUtilization !== undefined,
  )
  const annotations: Record<string, string> = { ...object.metadata.annotations }
  if (others.length > 0) annotations[METRICS] = JSON.stringify(others.map(metricToV1))
  if (currentMetrics !== undefined && currentMetrics !== null && currentMetrics.length > 0)
    annotations[CURRENT] = JSON.stringify(currentMetrics.map(currentToV1))
  if (conditions !== undefined && conditions.length > 0) annotations[CONDITIONS] = JSON.stringify(conditions)
  if (behavior !== undefined) annotations[BEHAVIOR] = JSON.stringify(behavior)
  return {
    ...withAnnotations(object, annotations),
    apiVersion,
    spec: {
      ...spec,
      ...(cpu === undefined ? {} : { targetCPUUtilizationPercentage: cpu.resource?.target.averageUtilization }),
    },
    status: {
      ...status,
      currentReplicas: status.currentReplicas ?? 0,
      desiredReplicas: status.desiredReplicas ?? 0,
      ...(current === undefined
        ? {}
        : { currentCPUUtilizationPercentage: current.resource?.current.averageUtilization }),
    },
  }
}

function withAnnotations(object: KubeObject, annotations: Readonly<Record<string, string>>): KubeObject {
  const none = Object.keys(annotations).length === 0
  if (none && object.metadata.annotations === undefined) return object
  return withMetadata(object, { annotations: none ? undefined : annotations })
}

/** A metric target's two forms: v2's `target`, and v1's flat fields. */
function flat(target: Partial<MetricTarget> | MetricValueStatus, utilization: string, average: string) {
  return {
    ...(target.averageUtilization === undefined ? {} : { [utilization]: target.averageUtilization }),
    ...(target.averageValue === undefined ? {} : { [average]: target.averageValue }),
  }
}

function metricToV1(metric: MetricSpec) {
  const { type } = metric
  switch (type) {
    case 'Resource':
    case 'ContainerResource': {
      const key = type === 'Resource' ? 'resource' : 'containerResource'
      const { target, ...source }: Partial<ContainerResourceMetricSource> = metric[key] ?? {}
      return { type, [key]: { ...source, ...flat(target ?? {}, 'targetAverageUtilization', 'targetAverageValue') } }
    }
    case 'Pods': {
      const { metric: identifier, target }: Partial<PodsMetricSource> = metric.pods ?? {}
      return {
        type,
        pods: { metricName: identifier?.name, ...selectorOf(identifier), targetAverageValue: target?.averageValue },
      }
    }
    case 'Object': {
      const { describedObject, metric: identifier, target }: Partial<ObjectMetricSource> = metric.object ?? {}
      return {
        type,
        object: {
          target: describedObject,
          metricName: identifier?.name,
          targetValue: target?.value ?? '0',
          ...selectorOf(identifier),
          ...(target?.averageValue === undefined ? {} : { averageValue: target.averageValue }),
        },
      }
    }
    case 'External': {
      const { metric: identifier, target }: Partial<ExternalMetricSource> = metric.external ?? {}
      return {
        type,
        external: {
          metricName: identifier?.name,
          ...(identifier?.selector === undefined ? {} : { metricSelector: identifier.selector }),
          ...(target?.value === undefined ? {} : { targetValue: target.value }),
          ...(target?.averageValue === undefined ? {} : { targetAverageValue: target.averageValue }),
        },
      }
    }
    default:
      return metric
  }
}

const selectorOf = (identifier: MetricIdentifier | undefined) =>
  identifier?.selector === undefined ? {} : { selector: identifier.selector }

/** Takes a metric as an annotation has it, which is checked when it has become v2's. */
function metricToV2(metric: JsonObject): JsonObject {
  const { type } = metric
  switch (type) {
    case 'Resource':
    case 'ContainerResource': {
      const key = type === 'Resource' ? 'resource' : 'containerResource'
      const { targetAverageUtilization: utilization, targetAverageValue: value, ...source } = asObject(metric[key])
      const target =
        utilization !== undefined
          ? { type: 'Utilization', averageUtilization: utilization }
          : { type: 'AverageValue', averageValue: value }
      return { type, [key]: { ...source, target } }
    }
    case 'Pods': {
      const { metricName, selector, targetAverageValue } = asObject(metric['pods'])
      return {
        type,
        pods: {
          metric: { name: metricName, ...(selector === undefined ? {} : { selector }) },
          target: { type: 'AverageValue', averageValue: targetAverageValue },
        },
      }
    }
    case 'Object': {
      const { target, metricName, targetValue, selector, averageValue } = asObject(metric['object'])
      return {
        type,
        object: {
          describedObject: target,
          metric: { name: metricName, ...(selector === undefined ? {} : { selector }) },
          target:
            averageValue === undefined ? { type: 'Value', value: targetValue } : { type: 'AverageValue', averageValue },
        },
      }
    }
    case 'External': {
      const { metricName, metricSelector, targetValue, targetAverageValue } = asObject(metric['external'])
      return {
        type,
        external: {
          metric: { name: metricName, ...(metricSelector === undefined ? {} : { selector: metricSelector }) },
          target:
            targetAverageValue === undefined
              ? { type: 'Value', value: targetValue }
              : { type: 'AverageValue', averageValue: targetAverageValue },
        },
      }
    }
    default:
      return metric
  }
}

function currentToV1(metric: MetricStatus) {
  const { type } = metric
  if (type === 'Resource' || type === 'ContainerResource') {
    const key = type === 'Resource' ? 'resource' : 'containerResource'
    const { current = {}, ...source }: Partial<ContainerResourceMetricStatus> = metric[key] ?? {}
    return {
      type,
      [key]: {
        ...source,
        // v1 has no way to say that there is no value.
        ...flat(
          { ...current, averageValue: current.averageValue ?? '0' },
          'currentAverageUtilization',
          'currentAverageValue',
        ),
      },
    }
  }
  return metric
}

function currentToV2(metric: JsonObject): JsonObject {
  const { type } = metric
  if (type === 'Resource' || type === 'ContainerResource') {
    const key = type === 'Resource' ? 'resource' : 'containerResource'
    const { currentAverageUtilization, currentAverageValue, ...source } = asObject(metric[key])
    return {
      type,
      [key]: {
        ...source,
        current: {
          ...(currentAverageUtilization === undefined ? {} : { averageUtilization: currentAverageUtilization }),
          ...(currentAverageValue === undefined ? {} : { averageValue: currentAverageValue }),
        },
      },
    }
  }
  return metric
}
