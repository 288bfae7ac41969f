/** skiff kubelet's settings: those of --config and --config-dir below those of the command line, judged together. */
import { FlagError, type FlagValues, type ReadFlags, readFlags } from '../flags.ts'
import { judgeKubeletLine, judgeSettled } from './command-line.ts'
import { loadConfiguration } from './load.ts'
import { KUBELET_VALUES } from './settings.ts'
import { validateKubelet } from './validate.ts'
import { lackingLines, valuesOf } from './values.ts'

/** Of nodes of real containers alone; in a file they may stand for any. */
const REAL_ONLY = [
  ...['eviction-hard', 'eviction-soft', 'eviction-minimum-reclaim', 'system-reserved', 'kube-reserved'],
  ...['cpu-manager-policy', 'cpu-manager-policy-options', 'reserved-cpus', 'memory-manager-policy'],
  ...['topology-manager-policy', 'topology-manager-policy-options', 'topology-manager-scope'],
]
/** Of simulated ones alone. */
const SIMULATED_ONLY = ['stages', 'sim-dir', 'sim-forward', 'pod-cidr']

/** `say`: told in a line each what of the files is not known, or not done. @throws Error in one line */
export function settledKubelet(given: FlagValues, say: (line: string) => void): ReadFlags {
  const named = readFlags(KUBELET_VALUES, given)
  judgeKubeletLine(named, given)
  const [file, dropIns] = [named.text('config'), named.text('config-dir')]
  const config = file === undefined && dropIns === undefined ? {} : loadConfiguration(file, dropIns, say)
  for (const line of lackingLines(config, given)) say(`--config: ${line}`)
  const flags = readFlags(KUBELET_VALUES, valuesOf(config, given))
  validateKubelet(flags)
  judgeSettled(flags)
  const isReal = flags.text('container-runtime-endpoint') !== undefined
  const other = (isReal ? SIMULATED_ONLY : REAL_ONLY).find((name) => given.has(name))
  if (other !== undefined)
    throw new FlagError(
      isReal
        ? `--${other} is of simulated nodes: not with --container-runtime-endpoint`
        : `--${other} needs --container-runtime-endpoint: a simulated node gives its pods nothing of a machine`,
    )
  return flags
}
