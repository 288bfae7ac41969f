/** Whether the kernel passes packets on between its interfaces: set while the node runs, and put back as it was. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IPFamily } from '../../api/values/ip.ts'

const IPV6 = '/proc/sys/net/ipv6/conf'
const FILES: Readonly<Record<IPFamily, string>> = {
  IPv4: '/proc/sys/net/ipv4/ip_forward',
  IPv6: `${IPV6}/all/forwarding`,
}

const read = (file: string): string => readFileSync(file, 'utf8').trim()

export const forwarding = (family: IPFamily): string => read(FILES[family])

export function setForwarding(family: IPFamily, value: string): void {
  if (forwarding(family) === value) return
  if (family === 'IPv4') writeFileSync(FILES.IPv4, value)
  else setForwardingOfIPv6(value)
}

/**
 * A router takes no routes from others: where the kernel becomes one it forgets the default routes that it was told of (by router advertisements),
 * on every interface. All that is needed is that it forwards; so each interface stays what it was, and loses nothing meanwhile.
 */
function setForwardingOfIPv6(value: string): void {
  const interfaces = readdirSync(IPV6).filter((name) => name !== 'all')
  const settings = interfaces.flatMap((name) =>
    ['forwarding', 'accept_ra'].map((setting) => ({
      file: join(IPV6, name, setting),
      before: settingOf(name, setting),
    })),
  )
  for (const { file, before } of settings) if (file.endsWith('accept_ra') && before === '1') write(file, '2')
  writeFileSync(FILES.IPv6, value)
  for (const { file, before } of settings) write(file, before)
}

function settingOf(name: string, setting: string): string | undefined {
  try {
    return read(join(IPV6, name, setting))
  } catch {
    // An interface that has gone meanwhile has no settings.
    return undefined
  }
}

function write(file: string, value: string | undefined): void {
  if (value === undefined || !existsSync(file) || read(file) === value) return
  writeFileSync(file, value)
}

/** Why an interface of this machine can have no address of IPv6; undefined where it can. */
export function whyNoIPv6(): string | undefined {
  if (!existsSync(IPV6)) return 'its kernel has no IPv6'
  const off = ['all', 'default'].find((name) => settingOf(name, 'disable_ipv6') !== '0')
  return off === undefined ? undefined : `it is switched off there: sysctl -w net.ipv6.conf.${off}.disable_ipv6=0`
}
