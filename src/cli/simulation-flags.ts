/** The flags by which simulated containers may use something of this machine. */
import { Option } from 'commander'
import type { SimulationOptions } from '../cluster/simulation.ts'
import { integerArgument } from './security-flags.ts'

export interface SimulationFlags {
  readonly simDir?: string
  readonly simForward?: readonly string[]
  readonly stages?: readonly string[]
  readonly simulatedNodes?: number
}

export const simulationFlags = (): readonly Option[] => [
  new Option(
    '--sim-dir <dir>',
    'the folder with the files that simulated containers may give as their logs (default: none)',
  ),
  new Option(
    '--sim-forward <list>',
    'addresses to which the ports of simulated pods may lead, as 127.0.0.1:3000-3999 (default: none)',
  ).argParser((text: string) => text.split(',').map((one) => one.trim())),
  new Option(
    '--stages <path>',
    'a file or folder of Stages of KWOK, by which simulated pods and nodes live; may be given several times (default: none)',
  ).argParser((path: string, before: readonly string[] = []) => [...before, path]),
  new Option(
    '--simulated-nodes <n>',
    'with --runtime cri, simulated nodes beside the real ones (default: 0)',
  ).argParser(integerArgument(0, 2000)),
]

export const simulationOptions = ({
  simDir,
  simForward,
  stages,
  simulatedNodes,
}: SimulationFlags): SimulationOptions => ({
  ...(simDir === undefined ? {} : { directory: simDir }),
  ...(simForward === undefined ? {} : { forward: simForward }),
  ...(stages === undefined ? {} : { stages }),
  ...(simulatedNodes === undefined ? {} : { nodesBeside: simulatedNodes }),
})
