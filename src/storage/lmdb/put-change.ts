/** Rows of the table `changes` as they are put. */

import type { Allocate } from '../../base/slabs.ts'
import { compress, LONGEST_IN_PLACE } from './compress.ts'
import type { Environment } from './group-commit.ts'
import { revisionKey } from './records.ts'

/**
 * Changes of at least so many bytes are compressed: a pod's, which are over 3,000, take a fifth of their room then, and one page of the file
 * less than two. Events and Leases are about 1,000, of which a page holds several, and as many: they are left as they are.
 */
export const COMPRESSED_BYTES = 1500

/**
 * Gives what lmdb gives. A value says by its first byte whether it is compressed, and no row of a change begins with such a byte.
 * @param allocate memory for what is compressed
 */
export function putChange(
  { changes, changesAsGiven }: Environment,
  revision: number,
  row: Buffer,
  allocate: Allocate,
): Promise<boolean> {
  const key = revisionKey(revision)
  if (row.length > LONGEST_IN_PLACE) return changes.put(key, row)
  return changesAsGiven.put(key, row.length < COMPRESSED_BYTES ? row : (compress(row, allocate) ?? row))
}
