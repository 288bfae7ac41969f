/** What `--help` of the executables says: starters look for flags in it before they use them. bin/launch keeps a copy of each. */
import { ETCD_FLAGS } from './etcd-flags.ts'
import type { Flag } from './flags.ts'
import { KUBE_APISERVER_FLAGS } from './kube-apiserver-flags.ts'

const FLAGS: Readonly<Record<string, ReadonlyMap<string, Flag>>> = {
  etcd: ETCD_FLAGS,
  'kube-apiserver': KUBE_APISERVER_FLAGS,
}

const MEANING: Readonly<Record<Flag['handling'], string>> = {
  used: '',
  ignored: 'accepted; changes nothing here',
  lacking: 'accepted with its default alone',
}

export function helpText(name: string): string {
  const flags = [...(FLAGS[name]?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1))
  const lines = flags.map(({ name, type, handling }) =>
    `  --${name}${type === 'bool' ? '' : ` ${type}`}`.padEnd(60).concat(MEANING[handling]).trimEnd(),
  )
  return [
    `${name}, played by skiff: what is stored lives in memory, and ends with it.`,
    '',
    'Flags:',
    ...lines,
    '',
  ].join('\n')
}
