/** Where the API server listens, and where others reach it. */

import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { familyOf, type IPFamily } from '../api/values/ip.ts'
import { isLoopback } from '../base/loopback.ts'
import { StartError } from './errors.ts'

export const serverUrl = (host: string, port: number): string =>
  `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`

/** Every address of the machine. */
export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** A server that listens on `host` is reached at that address of its machine. */
export const listensAt = (host: string, address: string): boolean =>
  host === address || host === '::' || (host === '0.0.0.0' && isIP(address) === 4)

const isLinkLocal = (address: string): boolean => /^(169\.254\.|fe[89ab])/i.test(address)

/**
 * The address of that family at which pods and other machines reach an API server that listens on `host`; undefined where they do not.
 *
 * @throws StartError for what no other machine could reach
 */
export function advertisedAddress(
  host: string,
  asked: string | undefined,
  family: IPFamily = 'IPv4',
): string | undefined {
  if (asked !== undefined) {
    if (familyOf(asked) !== family)
      throw new StartError(
        `--advertise-address ${asked} is no ${family} address, as Services have them first: that of this machine which others reach is wanted`,
      )
    if (isLoopback(asked) || isWildcard(asked) || isLinkLocal(asked))
      throw new StartError(`--advertise-address ${asked} is not to be reached from other machines`)
    return asked
  }
  if (isLoopback(host)) return undefined
  if (!isWildcard(host)) return familyOf(host) === family ? host : undefined
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.find((one) => one.family === family && !one.internal && !isLinkLocal(one.address))?.address
}
