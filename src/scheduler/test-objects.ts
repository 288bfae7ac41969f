/** Under test: nodes and pods as the scheduler meets them. */
import type { Fields, KubeObject } from '../api/object.ts'

/** A node of 2 CPUs and 1Gi. */
export const node = (
  name: string,
  { labels = {}, spec = {}, allocatable = {} }: Record<string, Fields> = {},
): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: { allocatable: { cpu: '2', memory: '1Gi', pods: '10', ...allocatable } },
  }) as KubeObject

export interface GivenParts {
  readonly labels?: Fields
  readonly namespace?: string
  readonly requests?: Fields
  readonly ports?: readonly Fields[]
}
/** A pod of one container; its uid is its name. */
export const pod = (
  name: string,
  spec: Fields = {},
  { labels = {}, namespace = 'default', requests, ports }: GivenParts = {},
) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: name, labels },
    spec: {
      containers: [{ name: 'c', ...(requests && { resources: { requests } }), ...(ports && { ports }) }],
      ...spec,
    },
  }) as KubeObject
