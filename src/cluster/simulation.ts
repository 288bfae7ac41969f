/** What an administrator lets simulated containers use of this machine, checked when the cluster starts. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { type AddressRange, readAddressRange } from '../kubelet/runtimes/simulated/forwards.ts'
import type { SimulationResources } from '../kubelet/runtimes/simulated/simulated-answers.ts'
import type { Stage } from '../kubelet/stages/stage-file.ts'
import { StartError } from './errors.ts'
import { type Manifest, manifestsOf } from './initial-crds-and-objects.ts'

export interface SimulationOptions {
  /** The folder below which the files lie that pods' annotations name (docs/simulation.md). Default: none. */
  readonly directory?: string
  /** Addresses of this machine's network to which pods' annotations may lead their ports: `127.0.0.1:3000-3999`. Default: none. */
  readonly forward?: readonly string[]
  /**
   * Stages of KWOK, by which pods, nodes and objects of other kinds live, in the place of kubelets' simulation: objects, files, folders.
   * Default: none.
   */
  readonly stages?: readonly Manifest[]
  /** Simulated nodes beside real ones (`containerRuntime: 'cri'`). Default 0. */
  readonly nodesBeside?: number
}

/** @throws StartError with what to mend */
export function simulationResources(
  { directory, forward = [], nodesBeside = 0 }: SimulationOptions = {},
  containerRuntime: 'simulated' | 'cri' = 'simulated',
): SimulationResources {
  const given = directory !== undefined ? '--sim-dir' : forward.length > 0 ? '--sim-forward' : undefined
  if (nodesBeside > 0 && containerRuntime !== 'cri')
    throw new StartError(
      '--simulated-nodes is for --runtime cri: without it all nodes are simulated, and --nodes says how many',
    )
  if (given !== undefined && containerRuntime === 'cri' && nodesBeside === 0)
    throw new StartError(`${given} is for simulated containers: with --runtime cri it needs --simulated-nodes`)
  return {
    ...(directory === undefined ? {} : { directory: folder(directory) }),
    ...(forward.length === 0 ? {} : { forward: forward.map(rangeOf) }),
  }
}

/** @throws StartError that names the file, and the field that is not understood */
export async function simulationStages({ stages = [] }: SimulationOptions = {}): Promise<readonly Stage[]> {
  if (stages.length === 0) return []
  const { readStage, StageError } = await import('../kubelet/stages/stage-file.ts')
  const read = stages
    .flatMap((stage) => manifestsOf(stage))
    .map(({ object, from }) => {
      try {
        return readStage(object)
      } catch (cause) {
        if (!(cause instanceof StageError)) throw cause
        const name = object.metadata.name === undefined ? '' : ` ${object.metadata.name}`
        throw new StartError(`${from}: ${object.kind}${name}: ${cause.message}`, { cause })
      }
    })
  const twice = read.find((stage, i) => read.findIndex(({ name }) => name === stage.name) !== i)
  if (twice !== undefined) throw new StartError(`there are two Stages of the name ${twice.name}`)
  if (read.length === 0)
    throw new StartError(`--stages: there is no Stage in ${stages.filter((one) => typeof one === 'string').join(', ')}`)
  return read
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
