/**
 * What a pod's annotations ask of the simulation (docs/simulation.md): `sim.skiff.dev/NAME` for all its containers,
 * `CONTAINER.sim.skiff.dev/NAME` for one. An image `sim.skiff.dev/NAME:VALUE` asks the same of its container.
 */
import { GoDurationError, parseGoDurationMs } from '../../../base/go-duration.ts'

type Annotations = Readonly<Record<string, string>>

const DOMAIN = 'sim.skiff.dev'

/** The value for one container: its own annotation, else the pod's. */
export function simulationOf(annotations: Annotations, name: string, container = ''): string | undefined {
  const own = container === '' ? undefined : annotations[`${container}.${DOMAIN}/${name}`]
  return own ?? annotations[`${DOMAIN}/${name}`]
}

const IMAGE = /^sim\.skiff\.dev\/([a-z-]+)(?::([\w.-]+))?$/

/**
 * The pod's annotations with what the container's image says; its own annotation goes before its image, that before its pod's. An image
 * without a tag says `true`, and one that says with which code its container ends, that it does so at once.
 */
export function withImage(annotations: Annotations, image: string, container: string): Annotations {
  const [, name, value = 'true'] = IMAGE.exec(image) ?? []
  if (name === undefined) return annotations
  const of = (what: string) => `${container}.${DOMAIN}/${what}`
  return { ...(name === 'exit-code' ? { [of('exit-after')]: '0s' } : {}), [of(name)]: value, ...annotations }
}

/** All that are about this container, by their keys and their names. */
export function annotationsOfSimulation(
  annotations: Annotations,
  container: string,
): readonly { readonly key: string; readonly name: string; readonly value: string }[] {
  const found = []
  for (const prefix of [`${DOMAIN}/`, `${container}.${DOMAIN}/`])
    for (const [key, value] of Object.entries(annotations))
      if (key.startsWith(prefix)) found.push({ key, name: key.slice(prefix.length), value })
  return found
}

/** `1500ms`, `2s`, `1m30s`, or a number of seconds; undefined when it is none of these. */
export function annotatedMs(text: string | undefined): number | undefined {
  if (text === undefined || text.length > 40) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  try {
    return /^\d/.test(text) ? parseGoDurationMs(text) : undefined
  } catch (error) {
    if (error instanceof GoDurationError) return undefined
    throw error
  }
}

export function simulatedDelay(annotations: Annotations, name: string, container = ''): number {
  return annotatedMs(simulationOf(annotations, name, container)) ?? 0
}

export function simulatedFlag(annotations: Annotations, name: string, container = '', without = false): boolean {
  const text = simulationOf(annotations, name, container)
  return text === undefined ? without : text === 'true'
}

export function simulatedNumber(annotations: Annotations, name: string, container = ''): number | undefined {
  const text = simulationOf(annotations, name, container)
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** `success`, `failure`, `success-after=3s`, `failure-after=1m`: how a probe fares when its container has run for `ageMs`. */
export function simulatedOutcome(text: string | undefined, ageMs: number): boolean {
  if (text === undefined || text === 'success') return true
  if (text === 'failure') return false
  const [kind, after] = text.split('=')
  const ms = annotatedMs(after)
  if (ms === undefined) return true
  if (kind === 'success-after') return ageMs >= ms
  if (kind === 'failure-after') return ageMs < ms
  return true
}
