/** Why a file cannot be read, as Go's os package tells it. */
import { messageOf } from './errors.ts'

/** What the system says of files that cannot be read, in the words of Kubernetes' components. */
const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'not a directory',
  ELOOP: 'too many levels of symbolic links',
  ENAMETOOLONG: 'file name too long',
  EADDRINUSE: 'address already in use',
  EADDRNOTAVAIL: 'cannot assign requested address',
}

/** `open /nowhere: no such file or directory`. `act`: in place of open. */
export function whyUnread(file: string, cause: unknown, act = 'open'): string {
  const { code = '' } = cause as NodeJS.ErrnoException
  const verb = code === 'EISDIR' ? 'read' : act
  return `${verb} ${file}: ${systemReason(cause)}`
}

/** Of an error of the system alone. */
export function systemReason(cause: unknown): string {
  const { code = '' } = cause as NodeJS.ErrnoException
  return Object.hasOwn(SYSTEM_WORDS, code) ? (SYSTEM_WORDS[code] as string) : messageOf(cause)
}
