/**
 * --enable-leader-migration (KEP-2436): some controllers run under a Lease of their own, which two kinds of controller managers share, so
 * that a controller goes from the one to the other (from kube-controller-manager to a cloud's own) and never runs in both.
 */
import { checkShape, configurationIn, kindInVersions } from '../api/configuration/decode.ts'
import { struct } from '../api/configuration/shape.ts'
import type { JsonObject } from '../api/object.ts'
import { goQuote } from '../api/quote.ts'
import { asList, asObject, asText } from '../api/unchecked.ts'
import type { Leadership } from '../client/leader-election.ts'
import { readText } from '../cluster/read-file.ts'
import { FlagError, type ReadFlags } from './flags.ts'
import type { Election, ElectionSettings } from './leading.ts'

export interface LeaderMigration {
  /** The name of the Lease, in the namespace of the other. */
  readonly leaderName: string
  /** Of each controller that the file names whether this component may run it, under that Lease. */
  readonly isOurs: ReadonlyMap<string, boolean>
}

const COMPONENT = 'kube-controller-manager'
const EVERY_COMPONENT = '*'
/** Without a file the Lease is that of a cloud's controllers, none of which is here. */
const WITHOUT_FILE: LeaderMigration = { leaderName: 'cloud-provider-extraction-migration', isOurs: new Map() }

const SHAPE = struct('LeaderMigrationConfiguration', {
  apiVersion: 'string',
  kind: 'string',
  leaderName: 'string',
  controllerLeaders: [struct('ControllerLeaderConfiguration', { name: 'string', component: 'string' })],
})
/** Before v1 a file says what a lock is: a Lease, or Endpoints, which no component has any more. */
const FORMER_SHAPE = struct(SHAPE.type, { ...SHAPE.fields, resourceLock: 'string' })
const LOCKS = ['leases', 'endpoints']
const GROUP = 'controllermanager.config.k8s.io'
const KINDS = kindInVersions(SHAPE.type, GROUP, 'v1', 'v1beta1', 'v1alpha1')

/** Undefined where nothing migrates. @throws StartError, Error in the words of kube-controller-manager */
export function leaderMigrationOfFlags(flags: ReadFlags): LeaderMigration | undefined {
  if (!flags.bool('enable-leader-migration')) return undefined
  const file = flags.text('leader-migration-config')
  if (file === undefined || file === '') return WITHOUT_FILE
  return leaderMigrationIn(
    readText(file, (why) => `unable to read leader migration configuration from ${goQuote(file)}: ${why}`),
  )
}

/** @throws Error in the words of kube-controller-manager */
export function leaderMigrationIn(text: string): LeaderMigration {
  const { apiVersion, value, repeated } = configurationIn(text, KINDS)
  const isFormer = apiVersion !== `${GROUP}/v1`
  checkShape(isFormer ? FORMER_SHAPE : SHAPE, value, repeated, apiVersion.slice(GROUP.length + 1))
  const document = value as JsonObject
  const leaders = asList(document['controllerLeaders']).map(asObject)
  const [leaderName, lock] = [asText(document['leaderName']), asText(document['resourceLock'])]
  const problems = [
    ...(leaderName === ''
      ? ['leaderName: Required value: leaderName must be set for LeaderMigrationConfiguration']
      : []),
    ...(isFormer && !LOCKS.includes(lock)
      ? [`resourceLock: Invalid value: ${goQuote(lock)}: resource Lock must be one of 'leases' or 'endpoints'`]
      : []),
    ...leaders.flatMap((leader, i) =>
      ['component', 'name']
        .filter((field) => asText(leader[field]) === '')
        .map((field) => `controllerLeaders[${i}].${field}: Required value`),
    ),
  ]
  if (problems.length > 0) throw new Error(`failed to parse leader migration configuration: [${problems.join(' ')}]`)
  if (lock === 'endpoints')
    throw new FlagError('--leader-migration-config: resourceLock must be leases: no component has a lock of Endpoints')
  return {
    leaderName,
    // Of a controller that is there twice the last counts.
    isOurs: new Map(
      leaders.map((leader) => [
        asText(leader['name']),
        [COMPONENT, EVERY_COMPONENT].includes(asText(leader['component'])),
      ]),
    ),
  }
}

/** Two elections of one process over one Lease would renew it in turn, and neither would see that the other has lost it. @throws FlagError */
export function judgeLeases({ leaderName }: LeaderMigration, main: ElectionSettings): void {
  if (main.enabled && leaderName === main.name)
    throw new FlagError(
      `--leader-elect-resource-name: the Lease ${goQuote(leaderName)} is that of the leader migration: each needs one of its own`,
    )
}

/** It hands out what the others are known by, so it always runs with the main Lease. */
const TOKEN_CONTROLLER = 'serviceaccount-token-controller'
/** It asks the garbage collector how far that is, so it runs where that does. */
const GOES_WITH: Readonly<Record<string, string>> = {
  'storage-version-migrator-controller': 'garbage-collector-controller',
}

export interface DividedControllers {
  /** What runs with the main Lease. */
  readonly main: readonly string[]
  /** What runs with the Lease of the migration. What belongs to another component is in neither. */
  readonly migrated: readonly string[]
}

/** A controller is meant by its name alone, not by its older ones. */
export function divided(controllers: readonly string[], { isOurs }: LeaderMigration): DividedControllers {
  const placeOf = (name: string) => (name === TOKEN_CONTROLLER ? undefined : isOurs.get(GOES_WITH[name] ?? name))
  return {
    main: controllers.filter((name) => placeOf(name) === undefined),
    migrated: controllers.filter((name) => placeOf(name) === true),
  }
}

/**
 * Wins the Leases one after the other and runs what belongs to each. One that nothing runs under is held all the same: another component
 * waits for it. The second is asked for once the first ones run, as kube-controller-manager was seen to do, and not where they cannot.
 */
export async function runUnderLeases(
  { main, migrated }: DividedControllers,
  elections: { readonly main: Pick<Election, 'won'>; readonly migrated: Pick<Election, 'won'> },
  run: (leadership: Leadership | undefined, controllers: readonly string[]) => Promise<boolean>,
): Promise<void> {
  const leadership = await elections.main.won()
  if (main.length > 0 && !(await run(leadership, main))) return
  const second = await elections.migrated.won()
  if (migrated.length > 0) await run(second, migrated)
}
