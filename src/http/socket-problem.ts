/** Why nothing answers at a unix socket. */
import { createConnection } from 'node:net'

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ECONNREFUSED: 'connection refused',
  EACCES: 'permission denied',
}

/** In a system's words; undefined: connections are taken there. A path that begins with @ is of Linux' abstract names. */
export function socketProblem(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ path: path.startsWith('@') ? `\0${path.slice(1)}` : path })
    socket.once('connect', () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.once('error', ({ code = '', message }: NodeJS.ErrnoException) =>
      resolve(Object.hasOwn(WORDS, code) ? WORDS[code] : message),
    )
  })
}
