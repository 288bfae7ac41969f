/** A kubeconfig's text, read once and handed on: what is given as a pipe (`--kubeconfig <(…)`) is empty when it is read again. */
import { existsSync, readFileSync } from 'node:fs'
import { whyUnread } from '../base/unread.ts'

export interface KubeconfigText {
  /** As it was named; paths in the text are relative to its folder. */
  readonly file: string
  readonly text: string
}

export const unloaded = (file: string, why: string): string =>
  `error loading config file ${JSON.stringify(file)}: ${why}`

/** @throws Error in client-go's words for a file that cannot be read */
export function kubeconfigText(file: string): KubeconfigText {
  if (!existsSync(file)) throw new Error(`stat ${file}: no such file or directory`)
  try {
    return { file, text: readFileSync(file, 'utf8') }
  } catch (cause) {
    throw new Error(unloaded(file, whyUnread(file, cause)), { cause })
  }
}
