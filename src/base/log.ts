/** Logging by injection. Levels are those of Kubernetes' -v: 0 always, 2 usual, 4 debug, 5 every step, 6 and up requests. */
export interface Logger {
  readonly level: number
  /** From now on, of all loggers of this runtime. */
  setLevel(level: number): void
  info(level: number, message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, error: unknown, fields?: Readonly<Record<string, unknown>>): void
  named(name: string): Logger
}
