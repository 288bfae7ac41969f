/** Storage whose requests are counted and timed, under the names that kube-apiserver has for its own. */

import type { Scheme } from '../api/scheme/resource.ts'
import type { Counted, Observed } from '../base/metrics.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Storage } from '../storage/storage.ts'
import { DURATION_BUCKETS } from './duration-buckets.ts'

const LABELS = ['operation', 'group', 'resource']
/** Seconds. */
const ROOT = '/registry/'

type Operation = 'get' | 'list' | 'create' | 'update' | 'delete'

interface Series {
  readonly total: Counted
  readonly failed: Counted
  readonly seconds: Observed
}

/** The same storage where nothing is counted. */
export function measuredStorage({ machineClock: clock, metrics }: Runtime, storage: Storage, scheme: Scheme): Storage {
  if (metrics === undefined) return storage
  const requests = metrics.counter('etcd_requests_total', 'Requests to the store.', LABELS)
  const errors = metrics.counter('etcd_request_errors_total', 'Requests to the store that failed.', LABELS)
  const durations = metrics.histogram(
    'etcd_request_duration_seconds',
    'Time of a request to the store, in seconds.',
    LABELS,
    DURATION_BUCKETS,
  )
  const nameOf = prefixNames(scheme)
  const known = new Map<string, Series>()

  function seriesOf(operation: Operation, key: string): Series {
    const { group, resource } = nameOf(key)
    const id = `${operation} ${group}/${resource}`
    let series = known.get(id)
    if (series === undefined) {
      const labels = [operation, group, resource]
      series = {
        total: requests.child(...labels),
        failed: errors.child(...labels),
        seconds: durations.child(...labels),
      }
      known.set(id, series)
    }
    return series
  }

  /** The counting is not waited for: the answer is the storage's own promise. */
  function timed<T>(operation: Operation, key: string, answer: Promise<T>): Promise<T> {
    const began = clock.monotonic()
    const { total, failed, seconds } = seriesOf(operation, key)
    const ended = () => {
      total.add()
      seconds.observe((clock.monotonic() - began) / 1000)
    }
    answer.then(ended, () => {
      ended()
      failed.add()
    })
    return answer
  }

  return {
    isShared: storage.isShared,
    get mayBeGarbled() {
      return storage.mayBeGarbled ?? false
    },
    get revision() {
      return storage.revision
    },
    get compactedRevision() {
      return storage.compactedRevision
    },
    get failure() {
      return storage.failure
    },
    get: (key, revision) => timed('get', key, storage.get(key, revision)),
    range: (start, end, options) => timed('list', start, storage.range(start, end, options)),
    write(write) {
      const operation = write.type === 'delete' ? 'delete' : write.expectRevision === 0 ? 'create' : 'update'
      const answer = timed(operation, write.key, storage.write(write))
      return write.type === 'put' && write.thenDelete === true ? timed('delete', write.key, answer) : answer
    },
    fresh: (signal) => storage.fresh(signal),
    history: (prefix, afterRevision) => storage.history(prefix, afterRevision),
    subscribe: (prefix, afterRevision, subscriber) => storage.subscribe(prefix, afterRevision, subscriber),
    isStale: async (key) => (await storage.isStale?.(key)) ?? false,
    journal: (afterRevision) => storage.journal(afterRevision),
    compact: (revision) => storage.compact(revision),
    close: () => storage.close(),
  }
}

interface Named {
  readonly group: string
  readonly resource: string
}

const NOTHING: Named = { group: '', resource: '' }

/** What keys hold, by their beginnings: built-in resources as the scheme says, custom ones by their group, which has a dot. */
function prefixNames(scheme: Scheme): (key: string) => Named {
  const byPrefix = new Map<string, Named>()
  for (const { storagePrefix, group, resource } of scheme.rows())
    if (storagePrefix !== '' && !byPrefix.has(storagePrefix)) byPrefix.set(storagePrefix, { group, resource })
  return (key) => {
    const first = key.indexOf('/', ROOT.length)
    const second = first < 0 ? -1 : key.indexOf('/', first + 1)
    const found =
      byPrefix.get(key.slice(ROOT.length, second < 0 ? undefined : second)) ??
      byPrefix.get(key.slice(ROOT.length, first < 0 ? undefined : first))
    if (found !== undefined) return found
    const [, , group = '', resource = ''] = key.split('/', 4)
    return group.includes('.') ? { group, resource } : NOTHING
  }
}
