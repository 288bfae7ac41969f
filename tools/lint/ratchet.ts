/**
 * What there should be less of, counted in each folder of src (counts.ts) and compared with ratchet.json: no number may rise, and
 * a folder that is not there has none. `node tools/lint/ratchet.ts --write` writes down numbers that have fallen.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { folderOf, KINDS, type Kind, MEANING, placesOf } from './counts.ts'
import { reasonOfSearch, searchedTexts } from './searched-texts.ts'
import { reasonOf, untypedAccesses } from './untyped.ts'

type Counts = Partial<Record<Kind, number>>

const TABLE = fileURLToPath(new URL('ratchet.json', import.meta.url))
const MOST_SHOWN = 20

const allowed: Readonly<Record<string, Counts>> = JSON.parse(readFileSync(TABLE, 'utf8'))
const places = new Map<string, Map<Kind, string[]>>()
const files = globSync('src/**/*.{ts,tsx}')
  .map((path) => path.replaceAll('\\', '/'))
  .filter((file) => !file.endsWith('.test.ts') && !file.startsWith('src/api/generated/'))
// The page is a program by itself, and its tsconfig.json lets no any in.
const PROJECT = fileURLToPath(new URL('tsconfig.json', import.meta.url))
const untyped = untypedAccesses(
  PROJECT,
  files.filter((file) => !file.startsWith('src/ui/page/')),
)
for (const file of files) {
  const text = readFileSync(file, 'utf8')
  const folder = places.get(folderOf(file)) ?? new Map<Kind, string[]>()
  places.set(folderOf(file), folder)
  for (const kind of KINDS) {
    const lines = linesOf(kind, file, text)
    folder.set(kind, [...(folder.get(kind) ?? []), ...lines.map((line) => `${file}:${line}`)])
  }
}

function linesOf(kind: Kind, file: string, text: string): readonly number[] {
  if (kind === 'untyped') return untyped.get(file) ?? []
  // The page is a program by itself.
  if (kind === 'shared' && file.startsWith('src/ui/page/')) return []
  if (kind === 'searched') return reasonOfSearch(file) === undefined ? searchedTexts(text) : []
  return placesOf(kind, text)
}

let risen = 0
let fallen = 0
const table: Record<string, Counts> = {}
for (const [folder, counts] of [...places].sort(([a], [b]) => (a < b ? -1 : 1))) {
  for (const [kind, found] of counts) {
    const most = allowed[folder]?.[kind] ?? 0
    if (found.length < most) fallen += most - found.length
    if (Math.min(found.length, most) > 0) table[folder] = { ...table[folder], [kind]: Math.min(found.length, most) }
    if (found.length <= most) continue
    risen++
    console.error(`${folder}: ${found.length} instead of ${most} of: ${MEANING[kind]}`)
    for (const place of found.slice(0, MOST_SHOWN)) console.error(`  ${place}`)
  }
}
if (process.argv.includes('--write')) {
  const row = (counts: Counts) => Object.entries(counts).map(([kind, count]) => `"${kind}": ${count}`)
  const rows = Object.entries(table).map(([folder, counts]) => `  "${folder}": { ${row(counts).join(', ')} }`)
  writeFileSync(TABLE, `{\n${rows.join(',\n')}\n}\n`)
}
const sum = (kind: Kind) => [...places.values()].reduce((all, counts) => all + (counts.get(kind)?.length ?? 0), 0)
const generic = [...places].flatMap(([folder, counts]) =>
  reasonOf(folder) === undefined ? [] : (counts.get('untyped') ?? []),
)
const all = KINDS.map((kind) => `${kind} ${sum(kind)}`).join(', ')
console.log(
  `${risen === 0 ? 'ok' : `${risen} numbers have risen`}: ${all} (${generic.length} of the untyped where no kind is known)${fallen > 0 ? ` (${fallen} fewer than written down: --write)` : ''}`,
)
process.exit(risen === 0 ? 0 : 1)
