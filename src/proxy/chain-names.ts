/** What chains of nftables are named after: a hash, so that no name of the API reaches a script. */
import { createHash } from 'node:crypto'

export const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
