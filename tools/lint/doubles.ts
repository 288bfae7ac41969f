/** Exported names that two files of one room declare. */

interface Source {
  readonly file: string
  readonly text: string
}

const EXPORT = /^export (?:declare )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm

const roomOf = (file: string): string => file.split('/')[1] ?? ''

export function doublesOf(
  sources: readonly Source[],
): readonly { readonly name: string; readonly files: readonly string[] }[] {
  const places = new Map<string, string[]>()
  for (const { file, text } of sources)
    for (const [, name = ''] of text.matchAll(EXPORT)) {
      const known = places.get(name) ?? []
      if (!known.includes(file)) places.set(name, [...known, file])
    }
  return [...places].flatMap(([name, files]) => {
    const meeting = files.filter((file) => files.some((other) => other !== file && roomOf(other) === roomOf(file)))
    return meeting.length === 0 ? [] : [{ name, files: meeting }]
  })
}
