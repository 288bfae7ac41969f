/**
 * What npm run check:long runs, in pieces: the long test files, and the random tests with more and other seeds than CI's. A
 * piece is what is run again as a whole when a run is resumed.
 */
import { globSync } from 'node:fs'
import { basename, resolve } from 'node:path'

export interface Piece {
  readonly name: string
  readonly files: readonly string[]
  /** Added to the environment. */
  readonly env: Readonly<Record<string, string>>
}

const SEEDS_EACH = 1000
const SIMULATIONS = 10
const FAULT_ROUNDS = 500
/** Of the recorded scenarios CI plays some. */
const OUTSIDE = 'test/scenarios/outside.test.ts'
const CHAOS = 'test/containers/chaos.test.ts'
const CHAOS_PODS = 200

/** The special interest groups of Kubernetes' conformance tests: the first word of their names. */
const GROUPS = [
  'api-machinery',
  'apps',
  'architecture',
  'auth',
  'cli',
  'instrumentation',
  'network',
  'node',
  'scheduling',
  'storage',
]
const CONFORMANCE = 'test/containers/kubernetes-conformance.long.ts'
const CONTAINERD2 = 'test/containers/containerd2.long.ts'
/** Builds the newer versions of etcd, with which all that CI tests over Debian's is tested again. */
const NEWER_ETCD = 'test/etcd/newer.long.ts'

/** A clock that is moved is refused over an etcd: the tests of the clock, and of faults, which move it. */
const MOVE_THE_CLOCK = ['test/e2e/clock.test.ts', 'test/e2e/fault.test.ts']
const overEtcd = (): readonly string[] =>
  globSync(['test/e2e/*.test.ts', 'conformance/agreement.test.ts'], { exclude: MOVE_THE_CLOCK }).toSorted()

/** `firstSeed` is where the seeds of the simulation begin; CI's are 1 to 1,000. */
export function pieces(firstSeed: number): readonly Piece[] {
  const long = globSync(['src/**/*.long.ts', 'test/**/*.long.ts', 'conformance/**/*.long.ts']).toSorted()
  return [
    {
      name: "Kubernetes' conformance tests, those of quick.txt",
      files: [CONFORMANCE],
      env: { SKIFF_CONFORMANCE: 'quick' },
    },
    ...GROUPS.map((group) => ({
      name: `Kubernetes' conformance tests of sig-${group}`,
      files: [CONFORMANCE],
      env: { SKIFF_CONFORMANCE: `^\\[sig-${group}\\]` },
    })),
    ...[...long.filter((file) => file === CONTAINERD2), ...globSync('test/containers/*.test.ts').toSorted()].map(
      (file) => ({
        name: `${file}, with containerd 2`,
        files: [file],
        env: { SKIFF_CONTAINERD: 'interop/bin/containerd2' },
      }),
    ),
    ...long.filter((file) => file === NEWER_ETCD).map((file) => ({ name: file, files: [file], env: {} })),
    ...globSync('interop/etcd/3.*')
      .toSorted()
      .map((folder) => basename(folder))
      .map((version) => ({
        name: `test/etcd, with etcd ${version}`,
        files: globSync('test/etcd/*.test.ts').toSorted(),
        env: { ETCD: resolve(`interop/bin/etcd-${version}`) },
      })),
    ...overEtcd().map((file) => ({
      name: `${file}, over an etcd`,
      files: [file],
      env: { SKIFF_OVER_ETCD: '1' },
    })),
    ...long
      .filter((file) => ![CONFORMANCE, CONTAINERD2, NEWER_ETCD].includes(file))
      .map((file) => ({ name: file, files: [file], env: {} })),
    { name: `${OUTSIDE}, all`, files: [OUTSIDE], env: { SKIFF_PLAYS: 'all' } },
    {
      name: `${CHAOS}, ${CHAOS_PODS} pods`,
      files: [CHAOS],
      env: { SKIFF_PODS: String(CHAOS_PODS), SKIFF_SEED: String(firstSeed) },
    },
    // A full disk has no rounds.
    ...globSync('test/faults/{kill*,power}.test.ts')
      .toSorted()
      .map((file) => ({
        name: `${file}, ${FAULT_ROUNDS} rounds`,
        files: [file],
        env: { SKIFF_ROUNDS: String(FAULT_ROUNDS), SKIFF_SEED: String(firstSeed) },
      })),
    ...Array.from({ length: SIMULATIONS }, (_, index) => {
      const first = firstSeed + index * SEEDS_EACH
      return {
        name: `test/simulation, ${SEEDS_EACH} new seeds (${index + 1} of ${SIMULATIONS})`,
        files: globSync('test/simulation/*.test.ts'),
        env: { SKIFF_FIRST: String(first), SKIFF_SEEDS: String(SEEDS_EACH) },
      }
    }),
  ]
}
