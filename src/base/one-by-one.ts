import { getOrInsertComputed } from './get-or-insert.ts'

/** Asynchronous work that must not overlap: each piece begins when the one before it has ended, however that ended. */
export function oneByOne(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (act) => {
    const done = last.then(act)
    last = done.catch(() => {})
    return done
  }
}

interface Queue {
  waiting: number
  readonly act: ReturnType<typeof oneByOne>
}

/** The same for each key by itself. Keys of which no work is left are forgotten. */
export function oneByOneOfKey(): <T>(key: string, act: () => Promise<T>) => Promise<T> {
  const queues = new Map<string, Queue>()
  return async (key, act) => {
    const queue = getOrInsertComputed(queues, key, (): Queue => ({ waiting: 0, act: oneByOne() }))
    queue.waiting++
    try {
      return await queue.act(act)
    } finally {
      if (--queue.waiting === 0) queues.delete(key)
    }
  }
}
