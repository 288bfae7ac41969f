/** One probe of one container: when it runs, and what follows from its results (API concept: probes). */
import type { Probe } from '../../api/generated/types.ts'
import type { Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { ContainerRuntime, ProbeAction, ProbeResult, RuntimeContainerStatus } from '../runtimes/runtime.ts'

export type ProbeKind = 'liveness' | 'readiness' | 'startup'

export interface Prober {
  readonly containerId: string
  /** What was not allowed before is now. */
  trigger(): void
  stop(): void
}

export interface ProberOptions {
  readonly runtime: Runtime
  readonly containerRuntime: ContainerRuntime
  readonly kind: ProbeKind
  readonly probe: Probe
  readonly container: RuntimeContainerStatus
  /** Where a port is reached for, and what a command is. */
  readonly reach: Pick<ProbeAction, 'podIP' | 'ports' | 'command'>
  /** What the container counts as before the first result. */
  readonly initial: boolean
  /** A threshold was reached and the result is another than before. False ends the probing of this container. */
  readonly changed: (success: boolean) => boolean
  readonly failed: (output: string, errored: ProbeResult['errored']) => void
  /** A probe has come out, after so many seconds. */
  readonly came: (result: ProbeResult, seconds: number) => void
  /** It succeeded, but for something that should be told. */
  readonly warned: (warning: string) => void
  /** While false, nothing is probed (liveness and readiness before the startup probe succeeded). */
  readonly allowed: () => boolean
}

const MOST_TRIES = 3

export function startProber(options: ProberOptions): Prober {
  const { runtime, containerRuntime, kind, probe, container } = options
  const { clock } = runtime
  const periodMs = (probe.periodSeconds ?? 10) * 1000
  const abort = new AbortController()
  let timer: Timer | undefined
  let result = options.initial
  let known = false
  let last: boolean | undefined
  let runs = 0
  let held = false

  const wait = (ms: number) => {
    timer = clock.setTimer(ms, `${kind} probe`, () => void run())
  }

  /** What cannot be done is tried again at once. */
  async function outcome(): Promise<ProbeResult> {
    const action = { kind, handler: probe, timeoutSeconds: probe.timeoutSeconds ?? 1, ...options.reach }
    for (let tries = 1; ; tries++) {
      const came = await containerRuntime
        .probe(container.id, action, abort.signal)
        .catch((error): ProbeResult => ({ success: false, output: String(error) }))
      if (came.errored === undefined || tries === MOST_TRIES || abort.signal.aborted) return came
    }
  }

  async function run(): Promise<void> {
    if (abort.signal.aborted) return
    held = !options.allowed()
    if (held) {
      wait(periodMs)
      return
    }
    const startedAt = clock.monotonic()
    const came = await outcome()
    if (abort.signal.aborted) return
    options.came(came, (clock.monotonic() - startedAt) / 1000)
    const { success, output, errored, warning } = came
    if (!success) options.failed(output, errored)
    else if (warning !== undefined) options.warned(warning)
    if (errored !== undefined) {
      wait(Math.max(0, periodMs - (clock.monotonic() - startedAt)))
      return
    }
    runs = last === success ? runs + 1 : 1
    last = success
    const threshold = (success ? probe.successThreshold : probe.failureThreshold) ?? (success ? 1 : 3)
    if (runs >= threshold && (!known || result !== success)) {
      const isNews = !known || result !== success
      known = true
      result = success
      if (isNews && !options.changed(success)) return
    }
    wait(Math.max(0, periodMs - (clock.monotonic() - startedAt)))
  }

  wait(Math.max(0, container.startedAt + (probe.initialDelaySeconds ?? 0) * 1000 - clock.now()))
  return {
    containerId: container.id,
    trigger() {
      if (!held) return
      timer?.cancel()
      void run()
    },
    stop() {
      timer?.cancel()
      abort.abort()
    },
  }
}
