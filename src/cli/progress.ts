/** Progress on a terminal is one line that changes; anywhere else it is a line for each step. */
export interface Progress {
  step(text: string): void
  /** The last words. */
  done(lines: readonly string[]): void
  /** Clears what is half said, before an error. */
  end(): void
}

export function progressOn(out: NodeJS.WriteStream): Progress {
  const clear = out.isTTY ? '\r\x1b[K' : ''
  // What reads this may go (`skiff up | head -1`): the cluster stays.
  out.on('error', () => {})
  return {
    step: (text) => out.write(out.isTTY ? `${clear}${text} …` : `${text}\n`),
    done: (lines) => out.write(`${clear}${lines.join('\n')}\n`),
    end: () => clear !== '' && out.write(clear),
  }
}
