/**
 * The admission chain: plugins in Kubernetes' order, mutating ones first, then validating ones. Which plugins are in it is decided
 * once, by the lists of enabled and disabled names; the chain knows no plugin by name but for its place.
 */

import type { KubeObject } from '../../api/object.ts'
import { messageOf } from '../../base/errors.ts'
import type { CacheReads } from '../reads.ts'
import type { ConfigurationOf } from './configuration.ts'
import type { AdmissionStep, AdmissionTimings, Timing } from './metrics.ts'
import {
  type AdmissionAttributes,
  type AdmissionHost,
  type AdmissionPlugin,
  type AdmissionPluginFactory,
  PluginInitializationError,
} from './plugin.ts'
import { OFF_BY_DEFAULT, RECOMMENDED_ORDER } from './plugin-order.ts'

export interface AdmissionOptions {
  /** Factories by plugin name. */
  readonly plugins: Readonly<Record<string, AdmissionPluginFactory>>
  /** Named plugins beyond the default ones. */
  readonly enabled?: readonly string[]
  readonly disabled?: readonly string[]
  /** What plugins are to go by, by their names. */
  readonly configurationOf?: ConfigurationOf
  /** Behind all the others, whatever is enabled. */
  readonly guards?: readonly AdmissionPlugin[]
  readonly timings?: AdmissionTimings
}

/** A plugin in its place. Guards, which Kubernetes has elsewhere, are not timed. */
interface Member {
  readonly plugin: AdmissionPlugin
  readonly timing: Timing | undefined
}

interface Chain {
  readonly mutating: readonly Member[]
  readonly validating: readonly Member[]
  readonly admit: Timing | undefined
  readonly validate: Timing | undefined
}

export interface AdmissionChain {
  /** The object to go on with. Rejects with the StatusError of the plugin that refuses. */
  mutate(attributes: AdmissionAttributes): KubeObject | Promise<KubeObject>
  validate(attributes: AdmissionAttributes): void | Promise<void>
  readonly names: readonly string[]
}

export function createAdmissionChain(
  reads: CacheReads,
  host: AdmissionHost,
  options: AdmissionOptions,
): AdmissionChain {
  const place = (name: string) => {
    const at = RECOMMENDED_ORDER.indexOf(name)
    return at < 0 ? RECOMMENDED_ORDER.length : at
  }
  const names = Object.keys(options.plugins)
    .filter((name) => !options.disabled?.includes(name))
    .filter((name) => !OFF_BY_DEFAULT.has(name) || options.enabled?.includes(name))
    .sort((a, b) => place(a) - place(b))
  const created = (name: string, create: AdmissionPluginFactory): AdmissionPlugin => {
    try {
      return create(reads, host, options.configurationOf?.(name))
    } catch (cause) {
      const what = cause instanceof PluginInitializationError ? 'failed to initialize' : "couldn't init"
      throw new Error(`failed to apply admission: ${what} admission plugin "${name}": ${messageOf(cause)}`, { cause })
    }
  }
  const plugins = [
    ...names.map((name) => created(name, options.plugins[name] as AdmissionPluginFactory)),
    ...(options.guards ?? []),
  ]
  const { timings, guards } = options
  const membersOf = (type: AdmissionStep, operation: AdmissionAttributes['operation']): readonly Member[] =>
    plugins
      .filter((plugin) => plugin[type === 'admit' ? 'mutate' : 'validate'] !== undefined && plugin.handles(operation))
      .map((plugin) => ({
        plugin,
        timing: guards?.includes(plugin) ? undefined : timings?.plugin(plugin.name, operation, type),
      }))
  const chains: Partial<Record<string, Chain>> = {}
  const chainOf = (operation: AdmissionAttributes['operation']): Chain => {
    chains[operation] ??= {
      mutating: membersOf('admit', operation),
      validating: membersOf('validate', operation),
      admit: timings?.step(operation, 'admit'),
      validate: timings?.step(operation, 'validate'),
    }
    return chains[operation]
  }
  const mutateTwice = (mutating: readonly Member[], attributes: AdmissionAttributes) => {
    const object = mutateAll(mutating, attributes)
    if (attributes.reinvocation === undefined) return object
    if (object instanceof Promise) return object.then((first) => again(mutating, attributes, first))
    return again(mutating, attributes, object)
  }
  return {
    names,
    // Synchronous as long as every plugin is: most are, and a write should not wait a turn for each of them.
    mutate(attributes) {
      const { mutating, admit } = chainOf(attributes.operation)
      return measured(admit, () => mutateTwice(mutating, attributes))
    },
    validate(attributes) {
      const { validating, validate } = chainOf(attributes.operation)
      const asked = measured(validate, () => askFrom(validating, 0, attributes, validateOne))
      if (asked instanceof Promise) return asked.then(() => {})
    },
  }
}

/** What `run` gives, timed by how it comes out. */
function measured<T>(timing: Timing | undefined, run: () => T | Promise<T>): T | Promise<T> {
  if (timing === undefined) return run()
  const began = timing.now()
  let answer: T | Promise<T>
  try {
    answer = run()
  } catch (error) {
    timing.refused(began)
    throw error
  }
  if (answer instanceof Promise) return settled(timing, began, answer)
  timing.passed(began)
  return answer
}

async function settled<T>(timing: Timing | undefined, began = 0, answer: Promise<T>): Promise<T> {
  try {
    const value = await answer
    timing?.passed(began)
    return value
  } catch (error) {
    timing?.refused(began)
    throw error
  }
}

/** undefined from a validating plugin. */
type Answer = KubeObject | undefined
type Ask = (plugin: AdmissionPlugin, attributes: AdmissionAttributes) => Answer | Promise<Answer>

const mutateOne: Ask = (plugin, attributes) => plugin.mutate?.(attributes)
const validateOne: Ask = (plugin, attributes) => plugin.validate?.(attributes) as undefined | Promise<undefined>

/**
 * Asks the plugins from the given one on, each about the object that the one before gave; a promise from the first that needs
 * one. Where one plugin's time ends the next one's begins.
 */
function askFrom(
  plugins: readonly Member[],
  from: number,
  attributes: AdmissionAttributes,
  ask: Ask,
): AdmissionAttributes | Promise<AdmissionAttributes> {
  let current = attributes
  let began: number | undefined
  for (let i = from; i < plugins.length; i++) {
    const { plugin, timing } = plugins[i] as Member
    began ??= timing?.now()
    let answer: Answer | Promise<Answer>
    try {
      answer = ask(plugin, current)
    } catch (error) {
      timing?.refused(began as number)
      throw error
    }
    if (answer instanceof Promise) {
      const asked = current
      return settled(timing, began, answer).then((object) => askFrom(plugins, i + 1, withObject(asked, object), ask))
    }
    began = timing?.passed(began as number)
    current = withObject(current, answer)
  }
  return current
}

const withObject = (attributes: AdmissionAttributes, object: Answer): AdmissionAttributes =>
  object === undefined || object === attributes.object ? attributes : { ...attributes, object }

const objectOf = ({ object }: AdmissionAttributes) => object as KubeObject

function mutateAll(plugins: readonly Member[], attributes: AdmissionAttributes): KubeObject | Promise<KubeObject> {
  const mutated = askFrom(plugins, 0, attributes, mutateOne)
  return mutated instanceof Promise ? mutated.then(objectOf) : objectOf(mutated)
}

/** The second run, when something asked for it. */
function again(
  plugins: readonly Member[],
  attributes: AdmissionAttributes,
  object: KubeObject,
): KubeObject | Promise<KubeObject> {
  const { reinvocation } = attributes
  if (reinvocation?.requested !== true || reinvocation.isSecond || object === undefined) return object
  reinvocation.isSecond = true
  return mutateAll(plugins, { ...attributes, object })
}
