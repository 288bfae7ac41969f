/** What a printer is: the cells of one object, in the order of its resource's columns. */
import type { Json, KubeObject } from '../../../api/object.ts'

/** May hold fewer or more cells than there are columns, where the real server's do. */
export type Cells = readonly Json[]

export type Printer = (object: KubeObject, nowMs: number) => Cells

/** The row's conditions: kubectl greys out pods that have ended. */
export type RowConditions = (object: KubeObject) => readonly Json[] | undefined
