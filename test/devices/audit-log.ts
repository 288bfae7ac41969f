/** Writes of components, from the audit log of a real cluster. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Fields } from '../../src/api/object.ts'
import { type SeenWrite, WRITERS } from './recording.ts'

/** Bytes. */
export function sizeOf(path: string): number {
  const file = openSync(path, 'r')
  const { size } = fstatSync(file)
  closeSync(file)
  return size
}

/** Those of the components in a stretch of the log, of lines with one of these words. */
export function writesIn(path: string, words: readonly string[], from: number, until: number): readonly SeenWrite[] {
  const file = openSync(path, 'r')
  const bytes = Buffer.alloc(until - from)
  readSync(file, bytes, 0, bytes.length, from)
  closeSync(file)
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      if (!words.some((word) => line.includes(word))) return []
      const entry: Fields = JSON.parse(line)
      const about: Fields = entry['objectRef'] ?? {}
      const writer = WRITERS[entry['user'].username]
      if (writer === undefined || entry['stage'] !== 'ResponseComplete') return []
      if (!['create', 'update', 'patch', 'delete'].includes(entry['verb'])) return []
      return [
        {
          at: entry['requestReceivedTimestamp'] as string,
          writer,
          verb: entry['verb'],
          resource: about['resource'],
          subresource: about['subresource'] ?? '',
          name: about['name'] ?? '',
          code: entry['responseStatus'].code,
          body: entry['requestObject'] ?? {},
        },
      ]
    })
    .sort((a, b) => (a.at < b.at ? -1 : 1))
}
