/** Which rule stands for which type: the tables of this folder, joined. Keys are OpenAPI definition names. */

import { clusterDefaults } from './cluster.ts'
import { coreDefaults } from './core.ts'
import { jobDefaults } from './jobs.ts'
import { podDefaults } from './pods.ts'
import { quantityMapDefaults } from './quantities.ts'
import type { Defaulter } from './rule.ts'
import { volumeDefaults } from './volumes.ts'
import { workloadDefaults } from './workloads.ts'

type Table = Readonly<Record<string, Defaulter>>

function join(...tables: readonly Table[]): ReadonlyMap<string, Defaulter> {
  return new Map(tables.flatMap((table) => Object.entries(table)))
}

export const defaulters: ReadonlyMap<string, Defaulter> = join(
  podDefaults,
  volumeDefaults,
  workloadDefaults,
  jobDefaults,
  coreDefaults,
  clusterDefaults,
)

/** Maps have no definition of their own; they are known by their Go type. */
export const mapDefaulters: ReadonlyMap<string, Defaulter> = join(quantityMapDefaults)
