/** skiff clock: where the clock of a cluster stands that was started with a manual one, and moving it. */
import { askControl } from '../cluster/control-client.ts'
import { StartError } from '../cluster/errors.ts'

export interface AdvanceOptions {
  readonly dataDir: string
  readonly to?: string
  readonly untilIdle?: boolean
  readonly atMost?: string
  readonly settle?: string
}

interface ClockStatus {
  readonly time: string
  readonly waiting: readonly { readonly time: string; readonly what: string }[]
}

const NO_CLOCK = "its clock is the machine's; one that can be moved is started with skiff up --clock manual"

export async function clockStatus(dataDir: string): Promise<void> {
  const { time, waiting } = await askControl<ClockStatus>(dataDir, 'GET', 'clock', undefined, NO_CLOCK)
  process.stdout.write(`${time}\n`)
  const width = Math.max(0, ...waiting.map((next) => next.time.length))
  for (const next of waiting) process.stdout.write(`  ${next.time.padEnd(width)}  ${next.what}\n`)
}

export async function clockAdvance(duration: string | undefined, options: AdvanceOptions): Promise<void> {
  const { to, untilIdle, atMost, settle } = options
  const given = [duration, to, untilIdle === true ? '' : undefined].filter((one) => one !== undefined)
  if (given.length !== 1) {
    const once = given.length === 0 ? '' : ' in one way, not in several'
    throw new StartError(`say how far${once}: a duration such as 30s, --to TIME or --until-idle`)
  }
  if (atMost !== undefined && untilIdle !== true) throw new StartError('--at-most belongs to --until-idle')
  const { time } = await askControl<ClockStatus>(
    options.dataDir,
    'POST',
    'clock',
    {
      ...(duration === undefined ? {} : { advance: duration }),
      ...(to === undefined ? {} : { to }),
      ...(untilIdle === true ? { untilIdle } : {}),
      ...(atMost === undefined ? {} : { atMost }),
      ...(settle === undefined ? {} : { settle }),
    },
    NO_CLOCK,
  )
  process.stdout.write(`${time}\n`)
}
