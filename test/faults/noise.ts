/** Text that no compression makes shorter, as sealed Secrets and archives are: the store keeps all of it. The same in every process. */
import { createHash } from 'node:crypto'

const BYTES = 1 << 20
const noise = createHash('shake256', { outputLength: BYTES }).update('noise').digest('base64').slice(0, BYTES)

/** @param length at most a megabyte */
export const noiseOf = (length: number): string => noise.slice(0, length)
