/**
 * What `--help` says of flags that stand for another program's: starters look for them in it before they use them (bin/launch keeps a
 * copy of each executable's).
 */
import type { Flag } from './flags.ts'

const MEANING: Readonly<Record<Flag['handling'], string>> = {
  used: '',
  ignored: 'accepted; changes nothing here',
  lacking: 'accepted with its default alone',
}

/** `introduction`: what it is, in a line or a few. */
export function helpText(introduction: string, table: ReadonlyMap<string, Flag>): string {
  const flags = [...table.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const lines = flags.map(({ name, type, handling }) =>
    `  --${name}${type === 'bool' ? '' : ` ${type}`}`.padEnd(60).concat(MEANING[handling]).trimEnd(),
  )
  return [introduction, '', 'Flags:', ...lines, ''].join('\n')
}
