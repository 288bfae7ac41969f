/** A failure that the user of a command or of startCluster can understand and mend; the command prints its message and nothing else. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartError'
  }
}
