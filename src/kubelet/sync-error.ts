/** A sync that has to be tried again, and when. */
export class SyncError extends Error {
  /** Milliseconds after which to try again; undefined: the usual wait. */
  readonly retryMs: number | undefined

  constructor(message: string, retryMs?: number, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SyncError'
    this.retryMs = retryMs
  }
}

/** Why one container could not start: `reason` is what its waiting state says. */
export class StartContainerError extends SyncError {
  readonly reason: string

  constructor(reason: string, message: string, retryMs?: number, options?: ErrorOptions) {
    super(message, retryMs, options)
    this.name = 'StartContainerError'
    this.reason = reason
  }
}
