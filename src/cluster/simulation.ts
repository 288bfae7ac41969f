/** What an administrator lets simulated containers use of this machine, checked when the cluster starts. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { type AddressRange, readAddressRange } from '../kubelet/runtimes/simulated/forwards.ts'
import type { SimulationResources } from '../kubelet/runtimes/simulated/simulated-answers.ts'
import { StartError } from './errors.ts'

export interface SimulationOptions {
  /** The folder below which the files lie that pods' annotations name (docs/simulation.md). Default: none. */
  readonly directory?: string
  /** Addresses of this machine's network to which pods' annotations may lead their ports: `127.0.0.1:3000-3999`. Default: none. */
  readonly forward?: readonly string[]
}

/** @throws StartError with what to mend */
export function simulationResources(
  { directory, forward = [] }: SimulationOptions = {},
  containerRuntime: 'simulated' | 'cri' = 'simulated',
): SimulationResources {
  const given = directory !== undefined ? '--sim-dir' : forward.length > 0 ? '--sim-forward' : undefined
  if (given !== undefined && containerRuntime === 'cri')
    throw new StartError(`${given} is for simulated containers, not for --runtime cri`)
  return {
    ...(directory === undefined ? {} : { directory: folder(directory) }),
    ...(forward.length === 0 ? {} : { forward: forward.map(rangeOf) }),
  }
}

function folder(directory: string): string {
  const path = resolve(directory)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new StartError(`--sim-dir: there is no folder ${path}`)
  return path
}

function rangeOf(text: string): AddressRange {
  try {
    return readAddressRange(text)
  } catch (cause) {
    throw new StartError(`--sim-forward: ${messageOf(cause)}`, { cause })
  }
}
