/** The random story, told on a clock that is moved: only its seed is taken from the simulation. */
import type { SimulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import type { Happenings } from '../explore.ts'
import { movedRuntime } from '../moved-runtime.ts'
import { tell as story } from './story.ts'

export const ADVANCES = 'time is moved'

export async function tell({ seed }: SimulatedRuntime): Promise<Happenings> {
  const runtime = movedRuntime(seed)
  try {
    const happened = await story(runtime)
    return new Map([...happened, [ADVANCES, runtime.advances]])
  } finally {
    runtime.end()
  }
}
