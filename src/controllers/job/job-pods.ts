/** The pods a job makes. */
import type { Container, Job, Pod } from '../../api/generated/types.ts'
import { podFromTemplate } from '../pods/pod.ts'
import { failureAnnotations } from './backoff-limit-per-index.ts'
import { indexLabel } from './completion-indexes.ts'
import { trackingFinalizer } from './job.ts'

const indexVariable = 'JOB_COMPLETION_INDEX'
const longestBase = 63 - 6

/** For an Indexed job, the pod of this index; `replaced` is the index's last one, which has failed. */
export function podOfJob(job: Job, index: number | undefined, replaced?: Pod): Pod {
  const pod = podFromTemplate(job.spec!.template, job)
  const tracked = [...(pod.metadata.finalizers ?? []), trackingFinalizer]
  if (index === undefined) return { ...pod, metadata: { ...pod.metadata, finalizers: tracked } }
  const name = job.metadata.name ?? ''
  const mark = { [indexLabel]: String(index) }
  const spec = pod.spec!
  const withIndex = (containers: readonly Container[]) => containers.map(withIndexVariable)
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      generateName: `${name.slice(0, longestBase - String(index).length - 1)}-${index}-`,
      labels: { ...pod.metadata.labels, ...mark },
      annotations: { ...pod.metadata.annotations, ...mark, ...failureAnnotations(job, replaced) },
      finalizers: tracked,
    },
    spec: {
      ...spec,
      containers: withIndex(spec.containers),
      ...(spec.initContainers ? { initContainers: withIndex(spec.initContainers) } : {}),
      ...(spec.hostname ? {} : { hostname: `${name}-${index}` }),
    },
  }
}

function withIndexVariable(container: Container): Container {
  const env = container.env ?? []
  if (env.some((variable) => variable.name === indexVariable)) return container
  const fieldRef = { fieldPath: `metadata.labels['${indexLabel}']` }
  return { ...container, env: [...env, { name: indexVariable, valueFrom: { fieldRef } }] }
}
