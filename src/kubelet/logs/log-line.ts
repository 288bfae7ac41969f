/** One line of a container's log file, in CRI's form: `TIME stdout|stderr F|P text`. */
export interface LogLine {
  /** RFC 3339 with nanoseconds. */
  readonly time: string
  readonly stream: 'stdout' | 'stderr'
  /** The container's line is longer: what follows goes on. */
  readonly partial: boolean
  readonly text: string
}

/** Undefined when it is none. Texts are bytes as latin1, so that nothing of them is lost. */
export function parseLine(line: string): LogLine | undefined {
  const first = line.indexOf(' ')
  const second = line.indexOf(' ', first + 1)
  const third = line.indexOf(' ', second + 1)
  if (first < 1 || second < 0) return undefined
  const stream = line.slice(first + 1, second)
  if (stream !== 'stdout' && stream !== 'stderr') return undefined
  const tag = third < 0 ? line.slice(second + 1) : line.slice(second + 1, third)
  return {
    time: line.slice(0, first),
    stream,
    partial: tag.split(':')[0] === 'P',
    text: third < 0 ? '' : line.slice(third + 1),
  }
}
