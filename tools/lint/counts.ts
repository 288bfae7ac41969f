/** What the ratchet counts in a source file (ratchet.ts): each kind with the lines where it stands, but for those of untyped.ts and searched-texts.ts. */

export const KINDS = ['any', 'doubleCast', 'ignored', 'untyped', 'riddle', 'searched', 'shared'] as const
export type Kind = (typeof KINDS)[number]
export type TextKind = Exclude<Kind, 'untyped' | 'searched'>

export const MEANING: Readonly<Record<Kind, string>> = {
  any: 'the type any: use a generated type, or unknown and a check',
  doubleCast: '`as unknown as`: give the value the type that it has',
  ignored: 'a check that is turned off (@ts-ignore, @ts-expect-error, biome-ignore)',
  untyped: 'an access to a field that no type declares (untyped.ts): give the object its generated type',
  searched:
    'an error found again in its own text (searched-texts.ts): give it a class, a kind or a code, and make words of it where it is told',
  shared:
    'state that all servers of a process share: let its owner (a server, a resource, an endpoint) have it, unless it is a cache of a pure function',
  riddle:
    'a person without a name in a comment (who, whom, whoever, nobody, anyone, he, his, a sentence that begins with Whose): name what is meant',
}

const COMMENT = /^\s*(?:\/\*\*?|\*|\/\/)(.*)$|\s\/\/ (.*)$/

const patterns: Readonly<Record<TextKind, { readonly in: 'code' | 'comments'; readonly pattern: RegExp }>> = {
  any: { in: 'code', pattern: /(?::|<|\||&|=|\bas|,)\s*(?:readonly )?any\b(?!['\w(])/g },
  doubleCast: { in: 'code', pattern: /\bas unknown as\b/g },
  ignored: { in: 'comments', pattern: /@ts-(?:ignore|expect-error|nocheck)|biome-ignore/g },
  shared: {
    in: 'code',
    pattern: /^(?:export )?(?:let \w|const [a-z]\w*(?::.*)? = (?:new (?:Weak)?(?:Map|Set)\b[^(]*\(\)|createLruMap\b))/g,
  },
  riddle: {
    in: 'comments',
    pattern:
      /\b(?:[Ww]ho(?:m|ever)?|Whose|(?:[Nn]o|[Ss]ome|[Aa]ny|[Ee]very)body|(?:[Ss]ome|[Aa]ny|[Ee]very|[Nn]o )one|[Hh](?:e|im|is|imself)|[Ss]he)\b(?!-)/g,
  },
}

/** The lines, counted from one, in which a text has the kind: a line once for each time. */
export function placesOf(kind: TextKind, text: string): number[] {
  const { pattern, in: where } = patterns[kind]
  return text.split('\n').flatMap((line, at) => {
    const match = COMMENT.exec(line)
    const comment = match?.[1] ?? match?.[2] ?? ''
    const code = match === null ? line : match[1] === undefined ? line.slice(0, match.index) : ''
    return Array.from((where === 'code' ? code : comment).matchAll(pattern), () => at + 1)
  })
}

/** The folder that a file's counts belong to: at most two below src. */
export const folderOf = (file: string): string => file.split('/').slice(0, -1).slice(0, 3).join('/')
