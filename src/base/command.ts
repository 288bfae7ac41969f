/** Commands of the system that are waited for: without a shell, their input by standard input alone. */
import { spawn } from 'node:child_process'
import { messageOf } from '../base/errors.ts'

const MOST_SAID = 64 * 1024 * 1024

/** Resolves with what it says. @throws Error with what it says when it fails */
export function command(name: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(name, [...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`, LC_ALL: 'C' },
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    let size = 0
    const take = (into: Buffer[]) => (piece: Buffer) => {
      size += piece.length
      if (size <= MOST_SAID) into.push(piece)
      else child.kill('SIGKILL')
    }
    child.stdout.on('data', take(out))
    child.stderr.on('data', take(err))
    child.once('error', (cause) => reject(new Error(`${name}: ${messageOf(cause)}`, { cause })))
    // One that ends before it has read everything has a reason, which it says.
    child.stdin.on('error', () => {})
    child.once('close', (code, signal) => {
      const said = Buffer.concat(out).toString()
      if (code === 0) return resolve(said)
      const why = Buffer.concat(err).toString().trim().split('\n').slice(0, 3).join('; ')
      reject(new Error(`${name}: ${why || `ended by ${signal ?? `code ${code}`}`}`))
    })
    child.stdin.end(input)
  })
}
