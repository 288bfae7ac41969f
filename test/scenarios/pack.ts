/** `node test/scenarios/pack.ts FILE...`: makes recordings/*.json of what the recorder wrote. */
import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { normalizeRecording } from './normalize.ts'
import { pack } from './recording.ts'

for (const file of process.argv.slice(2)) {
  const recording = normalizeRecording(JSON.parse(readFileSync(file, 'utf8')))
  writeFileSync(new URL(`./recordings/${basename(file)}`, import.meta.url), pack(recording))
}
