/** A connection within the process: what is written to one of its ends is read from the other, as it is taken there. */
import { Duplex } from 'node:stream'

class End extends Duplex {
  other: End | undefined
  /** Called when what the other end wrote last has been taken. */
  #taken: (() => void) | undefined

  override _read(): void {
    this.#letOn()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.other?.offer(chunk, done)
  }

  override _final(done: () => void): void {
    this.other?.offer(null, done)
  }

  /** One that goes before it has said all takes the other with it, as of a socket. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#letOn()
    if (!this.writableFinished) this.other?.destroy()
    done(error)
  }

  offer(chunk: Buffer | null, done: () => void): void {
    if (this.destroyed || this.push(chunk) || chunk === null) done()
    else this.#taken = done
  }

  #letOn(): void {
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
  }
}

export function duplexPair(): readonly [Duplex, Duplex] {
  const one = new End()
  const other = new End()
  one.other = other
  other.other = one
  return [one, other]
}
