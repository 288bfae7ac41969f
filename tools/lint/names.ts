/**
 * One name, one meaning: what is exported under a name is exported under it by one file. The messages of CRI keep their own names, and the
 * page of the ui is a program by itself.
 */
import { globSync, readFileSync } from 'node:fs'
import { doublesOf } from './doubles.ts'

const OF_OTHERS = ['src/api/generated/', 'src/kubelet/runtimes/cri/messages.ts', 'src/ui/page/']

const files = globSync('src/**/*.{ts,tsx}')
  .map((path) => path.replaceAll('\\', '/'))
  .filter((file) => !file.endsWith('.test.ts') && !OF_OTHERS.some((other) => file.startsWith(other)))
const doubles = doublesOf(files.map((file) => ({ file, text: readFileSync(file, 'utf8') })))
for (const { name, files: places } of doubles) console.error(`${name} is exported by ${places.join(' and ')}`)
console.log(doubles.length === 0 ? 'ok: exported names' : `${doubles.length} exported names have two meanings`)
process.exit(doubles.length === 0 ? 0 : 1)
