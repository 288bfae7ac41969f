/** What a printer is: the cells of one object, in the order of its resource's columns. */
import type { Json, KubeObject } from '../../../api/object.ts'

/** May hold fewer or more cells than there are columns, where the real server's do. */
export type Cells = readonly Json[]

/**
 * Of any kind: a table pairs each resource with the printer of its kind, which takes that kind's type. A bookmark is printed,
 * too: an object with nothing but a version, even where its type says that a field is always there.
 */
export type Printer = { cells(object: KubeObject, nowMs: number): Cells }['cells']

/** The row's conditions: kubectl greys out pods that have ended. */
export type RowConditions = { of(object: KubeObject): readonly Json[] | undefined }['of']
