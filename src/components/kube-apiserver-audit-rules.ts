/** What kube-apiserver refuses of the flags of its audit log and of the webhook for audit events. */
import type { FlagsAsked } from './asked-flags.ts'

const MODES = ['batch', 'blocking', 'blocking-strict']
const VERSION = 'audit.k8s.io/v1'

/** In its order. */
export function auditProblems(asked: FlagsAsked): readonly string[] {
  return [
    ...(asked.text('audit-log-path') === '' ? [] : [...common(asked, 'log'), ...logProblems(asked)]),
    ...(asked.text('audit-webhook-config-file') === '' ? [] : common(asked, 'webhook')),
  ]
}

function common(asked: FlagsAsked, backend: 'log' | 'webhook'): readonly string[] {
  const mode = asked.text(`audit-${backend}-mode`)
  const found = [
    MODES.includes(mode)
      ? batchProblem(asked, backend, mode)
      : `invalid audit ${backend} mode ${mode}, allowed modes are "${MODES.join(',')}"`,
    truncateProblem(asked, backend),
    asked.text(`audit-${backend}-version`) === VERSION
      ? undefined
      : `invalid group version, allowed versions are ["${VERSION}"]`,
  ]
  return found.filter((problem) => problem !== undefined)
}

/** The first of them. */
function batchProblem(asked: FlagsAsked, backend: string, mode: string): string | undefined {
  if (mode !== 'batch') return undefined
  const flag = (name: string) => `audit-${backend}-batch-${name}`
  const rows: readonly [what: string, name: string][] = [
    ['buffer size', 'buffer-size'],
    ['max batch size', 'max-size'],
    ...(asked.isOn(flag('throttle-enable'))
      ? ([
          ['throttle QPS', 'throttle-qps'],
          ['throttle burst', 'throttle-burst'],
        ] as const)
      : []),
  ].map(([what = '', name = '']) => [what, name])
  const wrong = rows.find(([, name]) => !(asked.number(flag(name)) > 0))
  return (
    wrong && `invalid audit batch ${backend} ${wrong[0]} ${asked.number(flag(wrong[1]))}, must be a positive number`
  )
}

function truncateProblem(asked: FlagsAsked, backend: string): string | undefined {
  if (!asked.isOn(`audit-${backend}-truncate-enabled`)) return undefined
  const event = asked.number(`audit-${backend}-truncate-max-event-size`)
  const batch = asked.number(`audit-${backend}-truncate-max-batch-size`)
  const where = `invalid audit truncate ${backend} max`
  if (event <= 0) return `${where} event size ${event}, must be a positive number`
  return batch < event ? `${where} batch size ${batch}, must be greater than max event size (${event})` : undefined
}

function logProblems(asked: FlagsAsked): readonly string[] {
  const format = asked.text('audit-log-format')
  return [
    ...(format === 'json' || format === 'legacy'
      ? []
      : [`invalid audit log format ${format}, allowed formats are "legacy,json"`]),
    ...['maxage', 'maxbackup', 'maxsize'].flatMap((name) => {
      const value = asked.number(`audit-log-${name}`)
      return value < 0 ? [`--audit-log-${name} ${value} can't be a negative number`] : []
    }),
  ]
}
