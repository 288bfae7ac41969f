/** What is told of in-place resizes: that one waits, has begun, or is done, with what the containers are to have. */
import type { ResourceRequirements } from '../api/generated/types.ts'
import { type Container, initContainersOf, type Pod, specOf } from './pod.ts'
import type { AdmissionRefusal } from './pod-admission.ts'
import type { PodEvents } from './pod-events.ts'

export interface ResizeTold {
  waits(pod: Pod, refusal: AdmissionRefusal): void
  started(pod: Pod): void
  completed(pod: Pod): void
  failed(pod: Pod, problem: string): void
}

export function createResizeEvents(events: PodEvents): ResizeTold {
  return {
    // What can never be had the API server refuses.
    waits(pod, { reason, message, lacks = reason }) {
      events.warning(pod, `Resize${reason}`, `Pod resize ${lacks}: ${asked(pod, { error: message })}`)
    },
    started: (pod) => events.normal(pod, 'ResizeStarted', `Pod resize started: ${asked(pod)}`),
    failed: (pod, problem) => events.warning(pod, 'ResizeError', `Pod resize error: ${asked(pod, { error: problem })}`),
    completed: (pod) => events.normal(pod, 'ResizeCompleted', `Pod resize completed: ${asked(pod)}`),
  }
}

function asked(pod: Pod, more: object = {}): string {
  const of = ({ name, resources }: Container) => ({ name, resources: inOrder(resources) })
  const inits = initContainersOf(pod)
  return JSON.stringify({
    ...(inits.length === 0 ? {} : { initContainers: inits.map(of) }),
    containers: specOf(pod).containers.map(of),
    generation: pod.metadata.generation ?? 0,
    ...more,
  })
}

function inOrder({ limits, requests }: ResourceRequirements = {}): object {
  const sorted = (list: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(list).sort(([one], [other]) => (one < other ? -1 : 1)))
  return { ...(limits && { limits: sorted(limits) }), ...(requests && { requests: sorted(requests) }) }
}
