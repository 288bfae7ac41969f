/** Where the API server listens, and where others reach it. */
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { StartError } from './errors.ts'

export const serverUrl = (host: string, port: number): string =>
  `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`

/** Every address of the machine. */
export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** Only this machine reaches it. `host`: an address or a name, without brackets. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/**
 * The address at which pods and other machines reach an API server that listens on `host`; undefined where they do not.
 *
 * @throws StartError for what no other machine could reach
 */
export function advertisedAddress(host: string, asked: string | undefined): string | undefined {
  if (asked !== undefined) {
    if (isIP(asked) !== 4)
      throw new StartError(
        `--advertise-address ${asked} is no IPv4 address: that of this machine which others reach is wanted`,
      )
    if (isLoopback(asked) || isWildcard(asked) || asked.startsWith('169.254.'))
      throw new StartError(`--advertise-address ${asked} is not to be reached from other machines`)
    return asked
  }
  if (isLoopback(host)) return undefined
  if (!isWildcard(host)) return isIP(host) === 4 ? host : undefined
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.find(({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))
    ?.address
}
