import { messageOf } from '../base/errors.ts'
import { parseGoDurationMs } from '../base/go-duration.ts'
import { StartError } from './errors.ts'

/** The milliseconds of a flag's value in Go's form (`1m30s`); undefined where the flag is not given. @throws StartError */
export function durationFlagMs(flag: string, text: string): number
export function durationFlagMs(flag: string, text: string | undefined): number | undefined
export function durationFlagMs(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  try {
    return parseGoDurationMs(text)
  } catch (error) {
    throw new StartError(`--${flag}: ${messageOf(error)}`)
  }
}
