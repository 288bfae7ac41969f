/** What a stage does to its object, step by step: Events, finalizers, patches, applied objects, deletion. */

import { parse, type Tags } from 'yaml'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { isAlreadyExists, isNotFound } from '../../api/status.ts'
import { formatMicroTime } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client, DiscoveredResource, ResourceClient } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events.ts'
import type { Pod } from '../pod.ts'
import type { PlayedAddresses } from './played-addresses.ts'
import type { Stage, StageStep } from './stage-file.ts'
import { isTrueInTemplate, type Template, type TemplateFunctions, templateValueText } from './template/render.ts'
import { TemplateError } from './template/tokens.ts'

export interface StepperOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly clientAs: ((username: string) => Client) | undefined
  readonly events: EventRecorder
  readonly addresses: PlayedAddresses
  readonly random: Random
}

export interface Played {
  /** What the last step that changed the object has made of it. */
  readonly result?: KubeObject
  /** The step that failed. */
  readonly at: number
  readonly error?: unknown
}

export interface Stepper {
  /** `from`: the steps before it are done. Never rejects. */
  play(resource: DiscoveredResource, object: KubeObject, stage: Stage, from: number): Promise<Played>
}

const MANAGER = 'skiff-stages'

export function createStepper({ runtime, client, clientAs, events, addresses, random }: StepperOptions): Stepper {
  const { clock } = runtime
  const startTime = formatMicroTime(clock.now())
  let discovered: readonly DiscoveredResource[] = []

  const resourceAt = (by: Client, resource: DiscoveredResource, namespace = ''): ResourceClient => {
    const all = by.resource(resource)
    return resource.namespaced ? all.namespace(namespace) : all
  }

  function functionsFor(object: KubeObject): TemplateFunctions {
    const now = () => formatMicroTime(clock.now())
    const pod = object as Pod
    const nodeName = object.kind === 'Node' ? (object.metadata.name ?? '') : (pod.spec?.nodeName ?? '')
    const podIP = (node: unknown, hostNetwork: unknown, uid: unknown): string =>
      addresses.podIP({
        nodeName: String(node ?? ''),
        hostNetwork: isTrueInTemplate(hostNetwork),
        uid: String(uid ?? ''),
      })
    const own = { uid: object.metadata.uid ?? '', hostNetwork: pod.spec?.hostNetwork === true }
    const characters = (length: unknown, alphabet: string) =>
      Array.from(
        { length: Math.min(Number(length) || 0, 1000) },
        () => alphabet[Math.floor(random.float() * alphabet.length)],
      ).join('')
    return {
      Now: now,
      now,
      StartTime: () => startTime,
      NodeName: () => nodeName,
      NodeIP: () => addresses.nodeIP(nodeName),
      NodePort: () => 0,
      NodeIPWith: (name) => addresses.nodeIP(templateValueText(name)),
      NodeIPsWith: (name) => [addresses.nodeIP(templateValueText(name))],
      PodIP: () => addresses.podIP({ ...own, nodeName }),
      PodIPWith: (node, hostNetwork, uid = own.uid) => podIP(node, hostNetwork, uid),
      PodIPsWith: (node, hostNetwork, uid = own.uid) => [podIP(node, hostNetwork, uid)],
      uuidv4: () => random.uuid(),
      randInt: (from, to) => Number(from) + Math.floor(random.float() * Math.max(0, Number(to) - Number(from))),
      randNumeric: (length) => characters(length, '0123456789'),
      randAlpha: (length) => characters(length, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'),
      randAlphaNum: (length) => characters(length, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'),
    }
  }

  async function step(
    resource: DiscoveredResource,
    original: KubeObject,
    current: KubeObject,
    one: StageStep,
  ): Promise<KubeObject | 'deleted' | undefined> {
    const { name = '', namespace, uid } = current.metadata
    const objects = resourceAt(client, resource, namespace)
    switch (one.type) {
      case 'event':
        events.event(current, one.event.type, one.event.reason, one.event.message)
        return undefined
      case 'finalizers': {
        const patch = finalizersPatch(current, one)
        return patch === undefined ? undefined : objects.patch(name, 'json', patch, { fieldManager: MANAGER })
      }
      case 'delete':
        await objects
          .delete(name, { gracePeriodSeconds: 0, ...(uid === undefined ? {} : { preconditions: { uid } }) })
          .catch((error) => {
            if (!isNotFound(error)) throw error
          })
        return 'deleted'
      case 'patch': {
        const body = rendered(one.template, original, functionsFor(original))
        const isCore = resource.group === '' && (resource.resource === 'pods' || resource.resource === 'nodes')
        const kind = one.kind ?? (isCore ? 'strategic' : 'merge')
        const by = one.as === undefined ? client : asUser(one.as)
        return resourceAt(by, resource, namespace).patch(name, kind, patchOf(kind, one.root, body), {
          fieldManager: MANAGER,
          ...(one.subresource === '' ? {} : { subresource: one.subresource }),
        })
      }
      case 'apply':
        await applied(one, original)
        return undefined
    }
  }

  function asUser(username: string): Client {
    if (clientAs === undefined) throw new TemplateError(`no step can be done as ${username} here`)
    return clientAs(username)
  }

  async function applied(one: Extract<StageStep, { type: 'apply' }>, original: KubeObject): Promise<void> {
    const body = rendered(one.template, original, functionsFor(original)) as KubeObject
    const { apiVersion, kind } = body
    const isIt = (found: DiscoveredResource) =>
      found.kind === kind && (found.group === '' ? found.version : `${found.group}/${found.version}`) === apiVersion
    if (!discovered.some(isIt)) discovered = (await client.discover()).everyVersion
    const resource = discovered.find(isIt)
    if (resource === undefined)
      throw new TemplateError(`what is to be applied is of no kind that is served: ${apiVersion} ${kind}`)
    const namespace = body.metadata?.namespace ?? original.metadata.namespace ?? ''
    const object: KubeObject = {
      ...body,
      metadata: { ...body.metadata, ...(resource.namespaced ? { namespace } : {}) },
    }
    const objects = resourceAt(client, resource, namespace)
    const name = object.metadata.name ?? ''
    if (one.subresource === '') {
      try {
        await objects.create(object, { fieldManager: MANAGER })
        return
      } catch (error) {
        if (!isAlreadyExists(error) || name === '') throw error
      }
    }
    await objects.patch(name, one.kind, object as JsonObject, {
      fieldManager: MANAGER,
      ...(one.kind === 'apply' ? { force: true } : {}),
      ...(one.subresource === '' ? {} : { subresource: one.subresource }),
    })
  }

  return {
    async play(resource, object, stage, from) {
      let result: KubeObject | undefined
      let isDeleted = false
      if (resource.group === '' && resource.resource === 'pods') addresses.keep(object as Pod)
      for (let at = from; at < stage.steps.length; at++) {
        const one = stage.steps[at] as StageStep
        if (isDeleted && one.type !== 'event') continue
        try {
          const made = await step(resource, object, result ?? object, one)
          if (made === 'deleted') {
            isDeleted = true
            result = undefined
          } else if (
            made !== undefined &&
            made.metadata.resourceVersion !== (result ?? object).metadata.resourceVersion
          )
            result = made
        } catch (error) {
          return { at, error, ...(result === undefined ? {} : { result }) }
        }
      }
      return { at: stage.steps.length, ...(result === undefined ? {} : { result }) }
    },
  }
}

/** As YAML 1.1 has it, but for times and numbers to the base of 60, which stay texts. */
const tagsOf = (tags: Tags): Tags =>
  tags.filter(
    (tag) => typeof tag === 'string' || !(tag.tag.endsWith(':timestamp') || ('format' in tag && tag.format === 'TIME')),
  )

/** @throws TemplateError for what is no YAML */
export function rendered(template: Template, object: KubeObject, functions: TemplateFunctions): JsonObject {
  const text = template.render(object, functions)
  let value: unknown
  try {
    value = parse(text, { version: '1.1', customTags: tagsOf, logLevel: 'silent' })
  } catch (cause) {
    const [line] = (cause instanceof Error ? cause.message : '').split('\n')
    throw new TemplateError(`what the template makes is no YAML: ${line}`, { cause })
  }
  return (value ?? {}) as JsonObject
}

function patchOf(kind: string, root: string, body: JsonObject): JsonObject | readonly JsonObject[] {
  if (kind !== 'json') return root === '' ? body : { [root]: body }
  if (!Array.isArray(body)) throw new TemplateError('a patch of type json must be a list')
  if (root === '') return body
  return body.map((operation: JsonObject) => ({ ...operation, path: `/${root}${String(operation['path'] ?? '')}` }))
}

/** undefined: they are as they should be. Held to the version that was seen: the places of others may have moved. */
export function finalizersPatch(
  { metadata: { finalizers = [], resourceVersion } }: KubeObject,
  {
    add,
    remove,
    empty,
  }: { readonly add: readonly string[]; readonly remove: readonly string[]; readonly empty: boolean },
): readonly JsonObject[] | undefined {
  const kept = empty ? [] : finalizers.filter((one) => !remove.includes(one))
  const wanted = [...kept, ...add.filter((one) => !kept.includes(one))]
  if (wanted.length === finalizers.length && wanted.every((one, i) => one === finalizers[i])) return undefined
  const path = '/metadata/finalizers'
  return [
    ...(resourceVersion === undefined
      ? []
      : [{ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }]),
    wanted.length === 0 ? { op: 'remove', path } : { op: 'add', path, value: wanted },
  ]
}
