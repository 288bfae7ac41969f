/** skiff fault: reads and changes what goes wrong on purpose in a running cluster (docs/faults.md). */
import { askControl } from '../cluster/control-client.ts'
import { StartError } from '../cluster/errors.ts'
import { type FaultsStatus, strikeLine } from '../cluster/fault-lines.ts'

export interface FaultOptions {
  readonly dataDir: string
  readonly output: 'text' | 'json'
}

const NO_FAULTS = 'start it with skiff up --fault or --controls faults'
const SHOWN = 20

export const faultList = (options: FaultOptions): Promise<void> => ask(options, 'GET')

export const faultAdd = (words: readonly string[], options: FaultOptions): Promise<void> =>
  ask(options, 'POST', { add: [words.join(' ')] })

export async function faultClear(
  words: readonly string[],
  options: FaultOptions & { readonly seed?: number },
): Promise<void> {
  const { seed } = options
  if (words.length > 0 && seed !== undefined) throw new StartError('--seed is for all faults: leave the fault out')
  const all = seed === undefined ? { clear: true } : { set: [], seed }
  await ask(options, 'POST', words.length > 0 ? { clear: [words.join(' ')] } : all)
}

async function ask({ dataDir, output }: FaultOptions, method: 'GET' | 'POST', body?: object): Promise<void> {
  const status = await askControl<FaultsStatus>(dataDir, method, 'faults', body, NO_FAULTS)
  process.stdout.write(output === 'json' ? `${JSON.stringify(status)}\n` : textOf(status))
}

function textOf({ seed, faults, last }: FaultsStatus): string {
  const width = Math.max(0, ...faults.map(({ fault }) => fault.length))
  return [
    `seed ${seed}`,
    ...(faults.length === 0 ? ['no faults'] : []),
    ...faults.map(({ fault, met, struck }) => `${fault.padEnd(width)}  struck ${struck} of ${met}`),
    ...last.slice(-SHOWN).map((strike) => `  ${strikeLine(strike)}`),
    '',
  ].join('\n')
}
