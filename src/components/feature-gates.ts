/**
 * --feature-gates: read and judged as kube-apiserver judges them (API concept: feature gates). skiff behaves as with every gate at
 * its default; for one that is set otherwise it says so.
 */
import { parseGoBool } from '../base/go-bool.ts'
import { GATES } from '../cluster/gate-table.ts'
import { FlagError } from './flags.ts'

interface Gate {
  readonly stage: 'alpha' | 'beta' | 'ga' | 'deprecated'
  readonly usual: boolean
  readonly isLocked: boolean
  readonly needs: readonly string[]
}

/** The lines to warn with, one for each gate that is not at its default. @throws FlagError for what kube-apiserver refuses */
export function judgeFeatureGates(settings: readonly string[]): readonly string[] {
  if (settings.length === 0) return []
  const gates = table()
  const wanted = new Map<string, boolean>()
  const prefixes = new Set<string>()
  for (const setting of settings) {
    if (setting.trim() === '') continue
    // A component may be named before the gate: kube's are the only ones here.
    const [, component = '', rest = ''] = /^(?:([^:=]*):)?(.*)$/s.exec(setting.trim()) ?? []
    prefixes.add(component)
    if (prefixes.size > 1 && [...prefixes].every((one) => one === '' || one === 'kube'))
      throw new FlagError(
        'set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use',
      )
    if (component !== '' && component !== 'kube') throw new FlagError(`component not registered: ${component}`)
    const [name = '', value] = rest.split('=', 2)
    if (value === undefined) throw new FlagError(`missing bool value for ${name}`)
    const on = parseGoBool(value.trim())
    if (on === undefined)
      throw new FlagError(
        `invalid value of ${name}=${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`,
      )
    wanted.set(name, on)
  }
  for (const [name, on] of wanted) {
    const gate = gates.get(name)
    if (gate === undefined) throw new FlagError(`unrecognized feature gate: ${name}`)
    if (gate.isLocked && on !== gate.usual)
      throw new FlagError(`cannot set feature gate ${name} to ${on}, feature is locked to ${gate.usual}`)
  }
  const enabled = (name: string): boolean => {
    const gate = gates.get(name) as Gate
    const group = gate.stage === 'alpha' ? 'AllAlpha' : gate.stage === 'beta' ? 'AllBeta' : ''
    return wanted.get(name) ?? (name === group || gate.isLocked ? undefined : wanted.get(group)) ?? gate.usual
  }
  const broken = [...gates].flatMap(([name, { needs }]) => {
    const missing = enabled(name) ? needs.filter((other) => !enabled(other)) : []
    return missing.length === 0
      ? []
      : [`${name} is enabled, but depends on features that are disabled: [${missing.join(' ')}]`]
  })
  if (broken.length > 0) throw new FlagError(broken.length === 1 ? (broken[0] as string) : `[${broken.join(', ')}]`)
  return [...wanted].flatMap(([name, on]) => {
    const { usual } = gates.get(name) as Gate
    return on === usual ? [] : [`feature gate ${name}=${on}: skiff behaves as with ${name}=${usual}, its default`]
  })
}

const MINOR = 37

/** Whether a gate is on. The settings have been judged. */
export function isGateEnabled(name: string, settings: readonly string[]): boolean {
  const given = settings
    .map((setting) =>
      setting
        .trim()
        .replace(/^kube:/, '')
        .split('=', 2),
    )
    .findLast(([gate]) => gate === name)
  return (given === undefined ? undefined : parseGoBool(given[1]?.trim() ?? '')) ?? table().get(name)?.usual ?? false
}

/** --emulated-version and --min-compatibility-version, as they are read. @throws FlagError for what are no versions */
export function judgeVersions(emulated: readonly string[], compatible: readonly string[]): void {
  for (const settings of [emulated, compatible]) {
    let before: string | undefined
    for (const setting of settings) {
      const text = setting.trim()
      const [component, version] = text.includes('=') ? text.split('=', 2) : ['kube', text]
      if (component !== 'kube') throw new FlagError(`component not registered: ${component}`)
      const [, minor, patch] = /^v?1\.(\d+)(?:\.(\d+))?$/.exec(version ?? '') ?? []
      if (minor === undefined) throw new FlagError(`could not parse ${JSON.stringify(version)} as version`)
      const shown = `kube=${version}`
      if (patch !== undefined && patch !== '0') throw new FlagError(`patch version not allowed, got: ${shown}`)
      if (before !== undefined) throw new FlagError(`duplicate version flag, ${before} and ${shown}`)
      before = shown
    }
  }
}

/** --emulated-version. @throws FlagError for what kube-apiserver refuses, and for every version but its own */
export function judgeEmulatedVersion(settings: readonly string[]): void {
  judgeVersions(settings, [])
  for (const setting of settings)
    if (!new RegExp(`^(kube=)?v?1\\.${MINOR}(\\.0)?$`).test(setting.trim()))
      throw new FlagError(`--emulated-version=${setting}: skiff behaves as v1.${MINOR} alone; leave it out`)
}

function table(): ReadonlyMap<string, Gate> {
  return new Map(
    GATES.trim()
      .split('\n')
      .map((line) => {
        const [name = '', stage, usual, ...more] = line.split(' ')
        const needs = more.includes('needs') ? (more.at(-1) ?? '').split(',') : []
        return [
          name,
          { stage: stage as Gate['stage'], usual: usual === 'on', isLocked: more.includes('locked'), needs },
        ]
      }),
  )
}
