/** Names of a cluster's objects and kinds as words of a sentence. Nothing in them means anything to an expression. */
export const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Whether a name stands there by itself, and not as a part of another. */
export const hasWord = (words: string, name: string): boolean =>
  new RegExp(`(?<![A-Za-z0-9-])${escaped(name)}(?![A-Za-z0-9-])`).test(words)

/** Words of a sentence that come after a kind where no name does: `Bucket to be deleted`, `2 Buckets are left`. */
const SENTENCE_WORD =
  /^(to|is|are|was|were|has|have|had|be|being|been|still|yet|in|of|on|at|by|for|from|with|within|before|after|until|while|when|as|that|which|this|these|it|its|they|them|their|so|now|then|also|all|and|or|but|not|no|must|should|needs?|will|can|could|may|cannot|left|remains?|remaining|exists?|existing|present|deletion|deleted|deleting|removal|removed|removing|termination|terminating|terminated|finalizers?|cleanup|references?|referenc(ed|ing)|us(es|ed|ing)|depend(s|ing|ents?|encies)?|objects?|resources?|instances?|first|gone|finish(es|ed)?|complet(es?|ed|ion)|there|pending|block(s|ed|ing)?|wait(s|ing)?)$/i

/** Whether it is the name of what the word before it means: what is in quotes or behind a slash is, and else what is no word of a sentence. */
export const isNameIn = (between: string, name: string): boolean => /[/"'`]/.test(between) || !SENTENCE_WORD.test(name)

/** `namespace "team-a"`, `Deployment/web`: a word and a name, in quotes or not. Each word may have one, whatever stands before it. */
const WORD_AND_NAME =
  /(?<![A-Za-z0-9.-])([A-Za-z][A-Za-z0-9]{1,62})(?:\.([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}))?(?=([ /:]{1,3}["'`]?)([a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?)(?![A-Za-z0-9_-]))/g

export interface WordAndName {
  readonly word: string
  /** Behind a dot: `Bucket.s3.example.org`. */
  readonly group: string | undefined
  readonly name: string
}

export const wordsAndNames = (words: string): readonly WordAndName[] =>
  [...words.matchAll(WORD_AND_NAME)].flatMap(([, word = '', group, between = '', name = '']) =>
    isNameIn(between, name) ? [{ word, group, name }] : [],
  )

/** Whether a kind is written there as it is, `Instance` and not `instance`, and nowhere with a name of its own. */
export function isToldWithoutName(words: string, kind: string): boolean {
  const told = new RegExp(
    `(?<![A-Za-z0-9])${escaped(kind)}(?:e?s)?(?![A-Za-z0-9])(?:\\.[a-z0-9][a-z0-9.-]{0,252})?(?:([ /:]{1,3}["'\`]?)([A-Za-z0-9][A-Za-z0-9._-]{0,252}))?`,
    'g',
  )
  const all = [...words.matchAll(told)]
  return (
    all.length > 0 &&
    all.every(([, between = '', name = '']) => name === '' || !isNameIn(between, name.replace(/[._-]+$/, '')))
  )
}
