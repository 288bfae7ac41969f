/**
 * Ports stand in the order of a hash, as on a real cluster: FNV-1a with 128 bits over a port as Go prints the fields of its type. Learnt from
 * the order in which a Kubernetes v1.37.1 puts ten ports.
 */
interface Port {
  readonly name?: string
  readonly port?: number
  readonly protocol?: string
  readonly appProtocol?: string
}

const OFFSET = 0x6c62272e07bb014262b821756295c58dn
const PRIME = (1n << 88n) + 0x13bn
const MASK = (1n << 128n) - 1n

/** In an EndpointSlice: its fields are pointers. */
export const inSliceOrder = <P extends Port>(ports: readonly P[]): readonly P[] =>
  inOrderOf(ports, ({ name = '', protocol = 'TCP', port, appProtocol }) => {
    const fields = `Name:(*string)${name} Protocol:(*v1.Protocol)${protocol} Port:(*int32)${port}`
    return `(v1.EndpointPort){${fields} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`
  })

/** In a subset of Endpoints: its fields are values. */
export const inEndpointsOrder = <P extends Port>(ports: readonly P[]): readonly P[] =>
  inOrderOf(ports, ({ name = '', protocol = 'TCP', port, appProtocol }) => {
    const fields = `Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol}`
    return `(v1.EndpointPort){${fields} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`
  })

function inOrderOf<P extends Port>(ports: readonly P[], textOf: (port: P) => string): readonly P[] {
  if (ports.length < 2) return ports
  const hashed = ports.map((port) => ({ port, hash: hashOf(textOf(port)) }))
  return hashed.toSorted((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0)).map(({ port }) => port)
}

function hashOf(text: string): bigint {
  let hash = OFFSET
  for (const byte of new TextEncoder().encode(text)) hash = ((hash ^ BigInt(byte)) * PRIME) & MASK
  return hash
}
