/** A volume of the cluster could not be mounted: its Events name the step, and the volume as the cluster knows it, not as the pod does. */
export class MountStepError extends Error {
  readonly step: string
  readonly volume: string

  constructor(
    step: 'MountDevice' | 'WaitForAttach' | 'SetUp',
    volume: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = 'MountStepError'
    this.step = step
    this.volume = volume
  }
}

/** It cannot even be said what is to be mounted: nothing of the pod's volumes is waited for. */
export class UnprocessedVolumeError extends Error {}
