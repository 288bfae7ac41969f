/** Exported names that two files declare. */

interface Source {
  readonly file: string
  readonly text: string
}

const EXPORT = /^export (?:declare )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm

export function doublesOf(
  sources: readonly Source[],
): readonly { readonly name: string; readonly files: readonly string[] }[] {
  const places = new Map<string, string[]>()
  for (const { file, text } of sources)
    for (const [, name = ''] of text.matchAll(EXPORT)) {
      const known = places.get(name) ?? []
      if (!known.includes(file)) places.set(name, [...known, file])
    }
  return [...places].flatMap(([name, files]) => (files.length < 2 ? [] : [{ name, files }]))
}
