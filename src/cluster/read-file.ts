/** Files and flags that an administrator names: read, parsed, and refused in one line that says where the mistake is. */
import { readFileSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'
import { StartError } from './errors.ts'

/** @throws StartError */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new StartError(`cannot read ${file}: ${messageOf(cause)}`, { cause })
  }
}

/** What `parse` makes of the file's text. @throws StartError naming the file */
export async function fromFile<T>(file: string, parse: (text: string) => Promise<T> | T): Promise<T> {
  return parsed(file, readText(file), parse)
}

/** The same of a text that was read already. @throws StartError naming the file */
export async function parsed<T>(file: string, text: string, parse: (text: string) => Promise<T> | T): Promise<T> {
  try {
    return await parse(text)
  } catch (cause) {
    throw new StartError(`${file}: ${messageOf(cause)}`, { cause })
  }
}

/** What `make` makes of flags. @throws StartError */
export function fromFlags<T>(make: () => T): T {
  try {
    return make()
  } catch (cause) {
    throw cause instanceof StartError ? cause : new StartError(messageOf(cause), { cause })
  }
}
