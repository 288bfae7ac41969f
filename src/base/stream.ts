/**
 * A bounded flow of events with one reader. Not an async generator: `return()` of a generator waits behind a pending
 * `next()`, a Stream's `close()` does not.
 *
 * Guarantees: items come out in the order they were pushed; after `close(error?)` what was buffered is still read, then
 * `next()` gives undefined (or rejects with the error). Caveat: `push` on a full stream returns false and drops the
 * item; the producer decides (the watch cache disconnects the reader).
 */
export interface StreamReader<T> {
  /** The next item; undefined once closed. At most one pending call. */
  next(): Promise<T | undefined>
  /** What is buffered right now, without waiting (possibly empty). */
  drain(): T[]
  readonly closed: boolean
  close(error?: unknown): void
}

export class Stream<T> implements StreamReader<T> {
  readonly #buffer: T[] = []
  readonly #capacity: number
  #head = 0
  #closed = false
  #error: unknown
  #waiting: { resolve: (item: T | undefined) => void; reject: (error: unknown) => void } | undefined
  readonly #onClose: (() => void) | undefined

  /** `capacity` is the number of items that may wait; `onClose` runs once, when either side closes. */
  constructor(options: { capacity?: number; signal?: AbortSignal; onClose?: () => void } = {}) {
    this.#capacity = options.capacity ?? 1024
    this.#onClose = options.onClose
    if (options.signal?.aborted) this.close()
    else options.signal?.addEventListener('abort', () => this.close(), { once: true })
  }

  get closed(): boolean {
    return this.#closed
  }

  get length(): number {
    return this.#buffer.length - this.#head
  }

  push(item: T): boolean {
    if (this.#closed) return false
    const waiting = this.#waiting
    if (waiting) {
      this.#waiting = undefined
      waiting.resolve(item)
      return true
    }
    if (this.length >= this.#capacity) return false
    this.#buffer.push(item)
    return true
  }

  next(): Promise<T | undefined> {
    if (this.length > 0) {
      const item = this.#buffer[this.#head++]
      if (this.#head > 512 && this.#head * 2 > this.#buffer.length) {
        this.#buffer.splice(0, this.#head)
        this.#head = 0
      }
      return Promise.resolve(item)
    }
    if (this.#closed) return this.#error === undefined ? Promise.resolve(undefined) : Promise.reject(this.#error)
    if (this.#waiting) return Promise.reject(new Error('Stream.next() called while another next() is pending'))
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  drain(): T[] {
    const items = this.#buffer.slice(this.#head)
    this.#buffer.length = 0
    this.#head = 0
    return items
  }

  close(error?: unknown): void {
    if (this.#closed) return
    this.#closed = true
    this.#error = error
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) error === undefined ? waiting.resolve(undefined) : waiting.reject(error)
    this.#onClose?.()
  }
}
