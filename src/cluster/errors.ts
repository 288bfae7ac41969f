/** A failure that whoever starts a cluster can understand and mend; the command prints its message and nothing else. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartError'
  }
}
