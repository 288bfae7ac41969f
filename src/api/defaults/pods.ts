/** Defaults of Pod, PodSpec and the containers in it. */
import type { Pod, PodSpec } from '../generated/types.ts'
import type { Fields } from '../object.ts'
import { INIT_CONTAINERS, withoutAnnotations } from '../objects/annotated-fields.ts'
import { imageTag } from '../objects/image.ts'
import { noParts, type Parts } from '../parts.ts'
import { type Defaulter, missing } from './rule.ts'

const core = (name: string) => `io.k8s.api.core.v1.${name}`

function pod(value: Partial<Pod>, parts: Parts = noParts): Fields | undefined {
  const spec: Partial<PodSpec> = value.spec ?? {}
  const completed = parts.from(spec, completedSpec)
  const metadata = withoutAnnotations(value, INIT_CONTAINERS)
  if (completed === spec && metadata === undefined) return undefined
  return { ...(completed === spec ? {} : { spec: completed }), ...(metadata === undefined ? {} : { metadata }) }
}

const podTemplate: Defaulter = (value) => {
  const metadata = withoutAnnotations(value, INIT_CONTAINERS)
  return metadata && { metadata }
}

/** What a pod's spec has and a template's has not. */
function completedSpec(spec: Fields): Fields {
  const added: Record<string, unknown> = {}
  for (const list of ['containers', 'initContainers']) {
    const containers: readonly Fields[] | undefined = spec[list]
    if (!containers?.length) continue
    const changed = containers.map((container) => {
      const limited = requestsFromLimits(container)
      return spec['hostNetwork'] ? hostPorts(limited) : limited
    })
    if (changed.some((container, i) => container !== containers[i])) added[list] = changed
  }
  if (spec['enableServiceLinks'] === undefined || spec['enableServiceLinks'] === null)
    added['enableServiceLinks'] = true
  return Object.keys(added).length === 0 ? spec : { ...spec, ...added }
}

/** What is limited and not requested is requested as limited. */
function requestsFromLimits(container: Fields): Fields {
  const { limits, requests } = container['resources'] ?? {}
  if (!limits) return container
  const added = Object.keys(limits).filter((name) => !requests || !Object.hasOwn(requests, name))
  if (added.length === 0) return container
  const completed: Record<string, unknown> = { ...requests }
  for (const name of added)
    Object.defineProperty(completed, name, {
      value: limits[name],
      enumerable: true,
      writable: true,
      configurable: true,
    })
  return { ...container, resources: { ...container['resources'], requests: completed } }
}

/** In the host's network a container's port is the host's port. */
function hostPorts(container: Fields): Fields {
  const ports: readonly Fields[] | undefined = container['ports']
  if (!ports?.some((port) => !port['hostPort'] && port['containerPort'])) return container
  return {
    ...container,
    ports: ports.map((port) => (port['hostPort'] ? port : { ...port, hostPort: port['containerPort'] })),
  }
}

const specDefaults = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
  schedulerName: 'default-scheduler',
}

function podSpec(value: Fields): Fields | undefined {
  const added = missing(value, specDefaults)
  // serviceAccount is the old name of serviceAccountName; both are always shown.
  const account = value['serviceAccountName'] || value['serviceAccount']
  if (!account || (value['serviceAccount'] === account && value['serviceAccountName'] === account)) return added
  return { ...added, serviceAccountName: account, serviceAccount: account }
}

function container(value: Fields): Fields | undefined {
  const present = value['imagePullPolicy']
  const wanted = {
    ...(value['resources'] ? undefined : { resources: {} }),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...(present ? undefined : { imagePullPolicy: pullPolicy(value['image']) }),
  }
  return missing(value, wanted)
}

export function pullPolicy(image: string | undefined): string {
  return imageTag(image ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
}

const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }

/** Zero is not kept for these numbers: it means the default. */
function probe(value: Fields): Fields | undefined {
  const unset = Object.entries(probeDefaults).filter(([name]) => !value[name])
  return unset.length === 0 ? undefined : Object.fromEntries(unset)
}

/** podIP is the first of podIPs, and has the last word where they differ. */
const podStatus: Defaulter = ({ podIP, podIPs }) => {
  const first: string | undefined = podIPs?.[0]?.ip
  if (podIP && podIP !== first) return { podIPs: [{ ip: podIP }] }
  return first && !podIP ? { podIP: first } : undefined
}

export const podDefaults: Readonly<Record<string, Defaulter>> = {
  [core('PodStatus')]: podStatus,
  [core('Pod')]: pod,
  [core('PodTemplateSpec')]: podTemplate,
  [core('PodSpec')]: podSpec,
  [core('Container')]: container,
  [core('EphemeralContainer')]: container,
  [core('Probe')]: probe,
  [core('HTTPGetAction')]: (value) => missing(value, { path: '/', scheme: 'HTTP' }),
  [core('GRPCAction')]: (value) => missing(value, { service: '' }),
  [core('FileKeySelector')]: (value) => missing(value, { optional: false }),
  [core('ObjectFieldSelector')]: (value) => missing(value, { apiVersion: 'v1' }),
}
