/** Files and flags that an administrator names: read, parsed, and refused in one line that says where the mistake is. */
import { readFileSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'
import { whyUnread } from '../base/unread.ts'
import { StartError } from './errors.ts'

/** `words`: what is said of a file that is not to be read, instead of why alone; it may be a folder. @throws StartError */
export function readText(file: string, words: (why: string, isFolder: boolean) => string = (why) => why): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new StartError(words(whyUnread(file, cause), (cause as NodeJS.ErrnoException).code === 'EISDIR'), { cause })
  }
}

/** What is said of a file: kube-apiserver has other words for each flag. */
export interface FileWords {
  /** Of one that cannot be read. Default: why alone, which names it. */
  readonly unread?: (why: string) => string
  /** Of one whose text is wrong. Default: its name, and why. */
  readonly wrong?: (why: string, cause: unknown) => string
}

/** What `parse` makes of the file's text. @throws StartError naming the file */
export async function fromFile<T>(
  file: string,
  parse: (text: string) => Promise<T> | T,
  words: FileWords = {},
): Promise<T> {
  return parsed(file, readText(file, words.unread), parse, words)
}

/** The same of a text that was read already. @throws StartError naming the file */
export async function parsed<T>(
  file: string,
  text: string,
  parse: (text: string) => Promise<T> | T,
  { wrong = (why) => `${file}: ${why}` }: FileWords = {},
): Promise<T> {
  try {
    return await parse(text)
  } catch (cause) {
    throw new StartError(wrong(messageOf(cause), cause), { cause })
  }
}

/** What `make` makes of flags. `prefix` goes before what is told. @throws StartError */
export function fromFlags<T>(make: () => T, prefix = ''): T {
  try {
    return make()
  } catch (cause) {
    throw cause instanceof StartError ? cause : new StartError(`${prefix}${messageOf(cause)}`, { cause })
  }
}
