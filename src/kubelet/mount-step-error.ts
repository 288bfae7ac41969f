/** A volume could not be mounted in a step before its set-up for the pod: its Events name the step, and the volume as the cluster knows it. */
export class MountStepError extends Error {
  readonly step: string
  readonly volume: string

  constructor(step: 'MountDevice' | 'WaitForAttach', volume: string, message: string) {
    super(message)
    this.name = 'MountStepError'
    this.step = step
    this.volume = volume
  }
}

/** It cannot even be said what is to be mounted: nothing of the pod's volumes is waited for. */
export class UnprocessedVolumeError extends Error {}
