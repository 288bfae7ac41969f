/**
 * components: each part of a control plane as a process of its own (skiff apiserver, controller-manager, scheduler, kubelet), under the
 * flags of its Kubernetes counterpart, against any Kubernetes API server. Called by the skiff command. Here is what they have in common:
 * the command line, the log, signals, and how they end.
 */
import { messageOf } from '../base/errors.ts'
import { holdProcess } from '../base/live-clock.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { collectWhenQuiet } from '../base/quiet-collection.ts'
import type { Runtime } from '../base/runtime.ts'
import { buildMetrics } from '../cluster/build-metrics.ts'
import { stopOnSignals } from '../cluster/signals.ts'
import { KUBERNETES_VERSION, SKIFF_VERSION } from '../cluster/version.ts'
import { judgeEmulatedVersion, judgeFeatureGates } from './feature-gates.ts'
import { asksFor, type Flag, FlagError, type FlagValues, parseFlags, type ReadFlags, readFlags } from './flags.ts'
import { helpText } from './help.ts'

export interface ComponentCommand {
  /** As the skiff command calls it. */
  readonly name: string
  /** The one that it stands for. */
  readonly counterpart: string
  readonly flags: ReadonlyMap<string, Flag>
  readonly introduction: string
  /** @throws FlagError for what the counterpart refuses of the whole command line */
  judge?(given: FlagValues): void
  /** Where a file says more than the command line: its values below those. @throws Error in one line */
  settle?(given: FlagValues, say: (line: string) => void): ReadFlags
  /** @throws Error in one line; FlagError for the command line's mistakes */
  start(flags: ReadFlags, process: ComponentProcess): Promise<void>
}

export interface ComponentProcess {
  readonly runtime: Runtime
  /** A line on standard error, for the user of the command. */
  say(line: string): void
  /** What is to be undone when the process is asked to stop, last first. */
  onStop(undo: () => void | Promise<void>): void
  /** Says the line and ends the process with code 1. */
  fail(line: string): void
}

const MOST_VERBOSE = 10

/** Runs until a signal comes: then it stops in order and exits 0. Exits 1, as its counterpart, for whatever is wrong, with one line. */
export async function runComponent(command: ComponentCommand, args: readonly string[]): Promise<void> {
  const say = (line: string) => {
    process.stderr.write(`skiff ${command.name}: ${line}\n`)
  }
  try {
    const given = parseFlags(command.counterpart, command.flags, args, command.judge)
    if (asksFor(given, 'help')) {
      process.stdout.write(helpText(command.introduction, command.flags))
      return
    }
    if (asksFor(given, 'version')) {
      process.stdout.write(`skiff ${SKIFF_VERSION} (Kubernetes ${KUBERNETES_VERSION})\n`)
      return
    }
    judgeEmulatedVersion(given.get('emulated-version') ?? [])
    const flags = command.settle?.(given, say) ?? readFlags(command.flags, given)
    for (const warning of judgeFeatureGates(flags.list('feature-gates') ?? [])) say(`warning: ${warning}`)
    await run(command, flags, say)
  } catch (error) {
    say(error instanceof FlagError ? `${error.message}: see skiff ${command.name} --help` : messageOf(error))
    process.exit(1)
  }
}

async function run(command: ComponentCommand, flags: ReadFlags, say: (line: string) => void): Promise<void> {
  const release = holdProcess()
  const level = Math.min(Math.max(flags.number('v') ?? 0, 0), MOST_VERBOSE)
  const undo: (() => void | Promise<void>)[] = []
  const fail = (line: string) => {
    say(line)
    process.exit(1)
  }
  const runtime = liveRuntime({ level, onUncaught: (error) => runtime.log.error('unhandled failure', error) })
  buildMetrics(runtime.metrics)
  process.on('unhandledRejection', (error) => runtime.log.error('unhandled rejection', error))
  process.on('uncaughtException', (error) => {
    runtime.log.error('uncaught exception', error)
    fail(`stopping after an error of its own: ${error.message}`)
  })
  let stopping = false
  const stop = async () => {
    stopping = true
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step()
  }
  stopOnSignals(stop, release, (stopped) => {
    if (!stopped) runtime.log.info(0, 'Stopping')
  })
  try {
    collectWhenQuiet(runtime.machineClock)
    await command.start(flags, { runtime, say, onStop: (step) => undo.push(step), fail })
  } catch (error) {
    // What was still starting ends with the signal's reason.
    if (stopping) return
    // What it holds is let go: its directory, its ports.
    await stop().catch((failure) => runtime.log.error('stopping', failure))
    throw error
  }
}
