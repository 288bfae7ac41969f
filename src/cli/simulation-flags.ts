/** The flags by which simulated containers may use something of this machine. */
import { Option } from 'commander'
import type { SimulationOptions } from '../cluster/simulation.ts'

export interface SimulationFlags {
  readonly simDir?: string
  readonly simForward?: readonly string[]
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
]

export const simulationOf = ({ simDir, simForward }: SimulationFlags): SimulationOptions => ({
  ...(simDir === undefined ? {} : { directory: simDir }),
  ...(simForward === undefined ? {} : { forward: simForward }),
})
