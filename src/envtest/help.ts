import type { Flag } from '../components/flags.ts'
import { helpText } from '../components/help.ts'

/** What an executable says to `--help`. */
export const helpOf = (name: string, flags: ReadonlyMap<string, Flag>): string =>
  helpText(`${name}, played by skiff: what is stored lives in memory, and ends with it.`, flags)
