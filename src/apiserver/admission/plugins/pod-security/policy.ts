/** A namespace's pod security policy, as its labels say, and what a pod does against a level. */

import { type FieldError, invalid } from '../../../../api/errors/field-errors.ts'
import type { Pod, PodTemplateSpec } from '../../../../api/generated/types.ts'
import type { JsonObject } from '../../../../api/object.ts'
import { asText } from '../../../../api/unchecked.ts'
import { setBounded } from '../../../../base/set-bounded.ts'
import { PluginInitializationError } from '../../plugin.ts'
import { baselineChecks } from './baseline.ts'
import type { Check, CheckedPod, CheckPod, Violation } from './check.ts'
import { restrictedChecks } from './restricted.ts'

export type PodSecurityLevel = 'privileged' | 'baseline' | 'restricted'

export interface LevelVersion {
  readonly level: PodSecurityLevel
  /** Minor version of Kubernetes 1; Infinity for `latest`. */
  readonly minor: number
}

export interface PodSecurityLevels {
  readonly enforce: LevelVersion
  readonly audit: LevelVersion
  readonly warn: LevelVersion
}

export type PodSecurityMode = keyof PodSecurityLevels
export const MODES: readonly PodSecurityMode[] = ['enforce', 'audit', 'warn']
const PREFIX = 'pod-security.kubernetes.io/'
const LEVELS: readonly string[] = ['privileged', 'baseline', 'restricted']
const privileged: LevelVersion = { level: 'privileged', minor: Number.POSITIVE_INFINITY }

/** `restricted:v1.25`, `baseline:latest`. */
export const printLevel = ({ level, minor }: LevelVersion): string =>
  `${level}:${minor === Number.POSITIVE_INFINITY ? 'latest' : `v1.${minor}`}`

const parseVersion = (text: string): number | undefined => {
  if (text === 'latest') return Number.POSITIVE_INFINITY
  const match = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(text)
  return match ? Number(match[1]) : undefined
}

/** What holds where labels say nothing. */
export const PRIVILEGED: PodSecurityLevels = { enforce: privileged, audit: privileged, warn: privileged }

/** Levels and versions by the names of modes: `enforce`, `enforce-version`. @throws Error in one line for what is none */
export function defaultLevels(given: JsonObject): PodSecurityLevels {
  const problems: string[] = []
  const read = (mode: PodSecurityMode): LevelVersion => {
    const level = asText(given[mode]) || 'privileged'
    if (!LEVELS.includes(level)) problems.push(`${mode}: must be one of privileged, baseline, restricted`)
    const minor = parseVersion(asText(given[`${mode}-version`]) || 'latest')
    if (minor === undefined) problems.push(`${mode}-version: must be "latest" or "v1.x"`)
    return { level: level as PodSecurityLevel, minor: minor ?? 0 }
  }
  const levels = { enforce: read('enforce'), audit: read('audit'), warn: read('warn') }
  const [only] = problems
  if (only !== undefined)
    throw new PluginInitializationError(
      `PodSecurity configuration error: ${problems.length === 1 ? only : `[${problems.join(', ')}]`}`,
    )
  return levels
}

/**
 * The policy of a namespace's labels, with what is wrong in them: a level that is not known counts as restricted where pods
 * are refused and as privileged elsewhere, a version that is not known as latest. What is only warned about is at least
 * what is enforced when its own label is missing.
 */
export function policyOf(
  labels: Readonly<Record<string, string>> | undefined,
  defaults: PodSecurityLevels = PRIVILEGED,
): {
  readonly policy: PodSecurityLevels
  readonly errors: readonly FieldError[]
} {
  if (labels === undefined || !Object.keys(labels).some((key) => key.startsWith(PREFIX)))
    return { policy: defaults, errors: [] }
  const errors: FieldError[] = []
  const read = (mode: PodSecurityMode): LevelVersion => {
    const levelLabel = PREFIX + mode
    const versionLabel = `${levelLabel}-version`
    let { level, minor } = defaults[mode]
    if (Object.hasOwn(labels, levelLabel)) {
      const text = labels[levelLabel] as string
      if (LEVELS.includes(text)) level = text as PodSecurityLevel
      else {
        level = mode === 'enforce' ? 'restricted' : 'privileged'
        errors.push(invalid(`metadata.labels[${levelLabel}]`, text, 'must be one of privileged, baseline, restricted'))
      }
    }
    if (Object.hasOwn(labels, versionLabel)) {
      const text = labels[versionLabel] as string
      const parsed = parseVersion(text)
      if (parsed === undefined)
        errors.push(invalid(`metadata.labels[${versionLabel}]`, text, 'must be "latest" or "v1.x"'))
      else minor = parsed
    }
    return { level, minor }
  }
  const enforce = read('enforce')
  const audit = read('audit')
  const warn = read('warn')
  return { policy: { enforce, audit, warn: warnAtLeast(labels, enforce, warn) }, errors }
}

/** What is enforced is warned about too where templates are written, unless the labels say otherwise. */
function warnAtLeast(
  labels: Readonly<Record<string, string>>,
  enforce: LevelVersion,
  warn: LevelVersion,
): LevelVersion {
  if (Object.hasOwn(labels, `${PREFIX}warn`)) return warn
  return LEVELS.indexOf(enforce.level) > LEVELS.indexOf(warn.level) ? enforce : warn
}

export const isPrivileged = ({ enforce, audit, warn }: PodSecurityLevels): boolean =>
  enforce.level === 'privileged' && audit.level === 'privileged' && warn.level === 'privileged'

const versionAt = (check: Check, minor: number): CheckPod | undefined =>
  check.versions.findLast(({ since }) => since <= minor)?.check

const compiled = new Map<string, readonly CheckPod[]>()

function checksOf(policy: LevelVersion): readonly CheckPod[] {
  const key = printLevel(policy)
  const known = compiled.get(key)
  if (known !== undefined) return known
  const active = (checks: readonly Check[]) => checks.filter((check) => versionAt(check, policy.minor) !== undefined)
  const restricted = policy.level === 'restricted' ? active(restrictedChecks) : []
  const overridden = new Set(restricted.flatMap(({ overrides }) => overrides ?? []))
  const baseline = active(baselineChecks).filter(({ id }) => !overridden.has(id))
  const checks = [...baseline, ...restricted].map((check) => versionAt(check, policy.minor) as CheckPod)
  // Versions come from labels, which users may write: no more are kept than a cluster would ever use.
  setBounded(compiled, 200, key, checks)
  return checks
}

/** What the pod does against the level, in the order of the checks. */
export function evaluatePod(policy: LevelVersion, pod: CheckedPod): readonly Violation[] {
  if (policy.level === 'privileged') return []
  return checksOf(policy).flatMap((check) => check(pod) ?? [])
}

export const detailsOf = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')

/** A pod or a pod template. */
export const checkedPod = ({ metadata, spec }: Pod | PodTemplateSpec): CheckedPod => ({
  annotations: metadata?.annotations ?? {},
  spec: spec ?? {},
})
