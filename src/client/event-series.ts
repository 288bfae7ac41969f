/** events.k8s.io/v1: an event that comes again within six minutes is a series on the first one. */

import type { KubeObject } from '../api/object.ts'
import { StatusError } from '../api/status.ts'
import { formatMicroTime } from '../base/clock.ts'
import { createLruMap } from '../base/lru.ts'
import type { Runtime } from '../base/runtime.ts'
import type { ResourceClient } from './client.ts'
import {
  type EventNames,
  type EventOptions,
  type EventSource,
  type ObjectReference,
  objectReference,
} from './events.ts'

const seriesEndsMs = 360_000
const refreshMs = 1_800_000
const cacheSize = 4096

interface Series {
  event: KubeObject
  count: number
  observedAt: number
  writtenAt: number
}

/** `write` hands a task to the recorder's one writer. */
export function createEventSeries(
  runtime: Runtime,
  source: EventSource,
  eventName: EventNames,
  write: (task: (events?: ResourceClient) => Promise<void>) => void,
) {
  const known = createLruMap<string, Series>(cacheSize)

  return {
    record(regarding: ObjectReference, type: string, reason: string, note: string, options: EventOptions, now: number) {
      const action = options.action ?? reason
      const related = options.related === undefined ? undefined : objectReference(options.related)
      const instance = `${source.component}-${source.host ?? ''}`
      const key = JSON.stringify([type, action, reason, source.component, instance, regarding, related])
      const last = known.get(key)
      if (last !== undefined && now - last.observedAt <= seriesEndsMs) {
        last.count++
        last.observedAt = now
        // The first repeat starts the series on the server; later ones are told now and then.
        if (last.count === 2 || now - last.writtenAt >= refreshMs) writeSeries(last)
        return
      }
      if (last !== undefined && last.count > 2) writeSeries(last)
      const namespace = regarding.namespace ?? 'default'
      const event: KubeObject = {
        kind: 'Event',
        apiVersion: 'events.k8s.io/v1',
        metadata: {
          name: eventName(regarding.name, now),
          namespace,
          ...(options.annotations ? { annotations: options.annotations } : {}),
        },
        eventTime: formatMicroTime(now),
        reportingController: source.component,
        reportingInstance: instance,
        action,
        reason,
        regarding,
        ...(related === undefined ? {} : { related }),
        note,
        type,
      }
      known.set(key, { event, count: 1, observedAt: now, writtenAt: now })
      write(async (events) => {
        await events?.namespace(namespace).create(event)
      })
    },
  }

  function writeSeries(entry: Series) {
    entry.writtenAt = runtime.clock.now()
    const { event } = entry
    const series = { count: entry.count, lastObservedTime: formatMicroTime(entry.observedAt) }
    write(async (events) => {
      const own = events?.namespace(event.metadata.namespace ?? 'default')
      try {
        await own?.patch(event.metadata.name ?? '', 'strategic', { series })
      } catch (error) {
        if (!(error instanceof StatusError) || error.code !== 404) throw error
        await own?.create({ ...event, series })
      }
    })
  }
}
