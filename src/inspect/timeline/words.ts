/** Steps in words. What comes of here is data of others in part: it passes plainLine or an escape before it is shown. */
import type { TimelineChange, TimelineObject, TimelineStep } from './timeline-types.ts'
import { writerWords } from './writers.ts'

export function identityWords({ group, resource, name }: TimelineObject): string {
  return `${resource}${group === '' ? '' : `.${group}`}/${name}`
}

export const placeWords = ({ namespace }: TimelineObject): string =>
  namespace === '' ? '' : ` in namespace ${namespace}`

const seconds = (value: number | undefined) => (value === undefined || value === 0 ? '' : `, grace period ${value} s`)

export function changeWords(change: TimelineChange): string {
  switch (change.type) {
    case 'marked':
      return `marked${seconds(change.gracePeriodSeconds)}`
    case 'grace-shortened':
      return `grace period shortened to ${change.gracePeriodSeconds ?? 0} s`
    case 'finalizer-added':
      return `finalizer ${change.finalizer} added`
    case 'finalizer-removed':
      return `finalizer ${change.finalizer} taken off`
    case 'owner-added':
      return `owner ${change.owner.kind} ${change.owner.name} added`
    case 'owner-removed':
      return `owner ${change.owner.kind} ${change.owner.name} taken off`
    case 'owner-changed':
      return `owner ${change.owner.kind} ${change.owner.name} ${change.owner.blockOwnerDeletion === true ? 'is blocked by it' : 'is no longer blocked by it'}`
    case 'removed':
      return 'removed'
  }
}

export const changesWords = ({ changes }: TimelineStep): string =>
  changes.length === 0 ? 'no change' : changes.map(changeWords).join(', ')

/** `DELETE, Foreground, by uid` */
export function requestWords({ request: { verb, subresource, options } }: TimelineStep): string {
  const { propagationPolicy, gracePeriodSeconds, preconditions } = options ?? {}
  return [
    subresource === '' ? verb : `${verb} of ${subresource}`,
    ...(propagationPolicy === undefined ? [] : [propagationPolicy]),
    ...(gracePeriodSeconds === undefined ? [] : [`grace period ${gracePeriodSeconds} s`]),
    ...(preconditions?.['uid'] === undefined ? [] : ['by its uid']),
    ...(preconditions?.['resourceVersion'] === undefined ? [] : ['by its resourceVersion']),
  ].join(', ')
}

/** `garbage collector`, and that it is inferred, where it is. */
export const byWords = ({ by }: TimelineStep): string =>
  by.certainty === 'known' ? writerWords(by) : `${writerWords(by)} (inferred)`

/** `after 30.012 s` and the like: `30.012 s`, `12 ms`. */
export function waitWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  return `${(ms / 1000).toFixed(3).replace(/\.?0+$/, '')} s`
}
