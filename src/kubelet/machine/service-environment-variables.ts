/** Variables by which containers find services, made for each pod when it starts (API concept: accessing the Service). */
import type { Service } from '../../api/generated/types.ts'

/** Those of `kubernetes` in `default` always, those of the pod's own namespace where it has service links. */
export function serviceVariables(
  services: Iterable<Service>,
  namespace: string,
  hasLinks: boolean,
): Readonly<Record<string, string>> {
  const chosen = new Map<string, Service>()
  for (const service of services) {
    const { name = '', namespace: of } = service.metadata
    const ip = service.spec?.clusterIP
    if (ip === undefined || ip === '' || ip === 'None') continue
    if (of === namespace && hasLinks) chosen.set(name, service)
    else if (of === 'default' && name === 'kubernetes' && !chosen.has(name)) chosen.set(name, service)
  }
  const variables: Record<string, string> = Object.create(null)
  for (const [name, { spec }] of chosen) {
    const prefix = name.toUpperCase().replaceAll('-', '_')
    const ip = spec?.clusterIP ?? ''
    const host = ip.includes(':') ? `[${ip}]` : ip
    const ports = spec?.ports ?? []
    variables[`${prefix}_SERVICE_HOST`] = ip
    for (const [at, { port, name: portName = '', protocol = 'TCP' }] of ports.entries()) {
      if (at === 0) variables[`${prefix}_SERVICE_PORT`] = String(port)
      if (portName !== '')
        variables[`${prefix}_SERVICE_PORT_${portName.toUpperCase().replaceAll('-', '_')}`] = String(port)
      const url = `${protocol.toLowerCase()}://${host}:${port}`
      if (at === 0) variables[`${prefix}_PORT`] = url
      const one = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`
      variables[one] = url
      variables[`${one}_PROTO`] = protocol.toLowerCase()
      variables[`${one}_PORT`] = String(port)
      variables[`${one}_ADDR`] = ip
    }
  }
  return variables
}
