/** Texts of the format `byte`, as rules read them: with the letters that stand in URLs, and in Go's words where they are none. */

const LETTER = /^[A-Za-z0-9_-]$/

/** The place of what is wrong with it, or undefined. */
function firstProblem(text: string): number | undefined {
  let inGroup = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '\n' || character === '\r') continue
    if (character === '=') return inGroup < 2 ? at : paddingProblem(text, at, inGroup === 2)
    if (!LETTER.test(character)) return at
    inGroup = (inGroup + 1) % 4
  }
  return inGroup === 0 ? undefined : text.length - inGroup
}

/** From the first sign that fills a group up; `isTwo`: another must follow. */
function paddingProblem(text: string, first: number, isTwo: boolean): number | undefined {
  const skip = (from: number) => from + (/^[\r\n]*/.exec(text.slice(from))?.[0].length ?? 0)
  let at = first + 1
  if (isTwo) {
    at = skip(at)
    if (at === text.length) return at
    if (text[at] !== '=') return at
    at++
  }
  at = skip(at)
  return at < text.length ? at : undefined
}

/** What is wrong with the text, or undefined. */
export function base64Problem(text: string): string | undefined {
  const at = firstProblem(text)
  return at === undefined ? undefined : `illegal base64 data at input byte ${at}`
}
