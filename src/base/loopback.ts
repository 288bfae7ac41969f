/** Addresses that only this machine reaches. */
import { isIP } from 'node:net'

/** `host`: an address or a name, as it is or as a URL has it. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1')
  return address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
}
