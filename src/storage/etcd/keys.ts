/** Keys as this process names them (/registry/…) and as etcd holds them (under --etcd-prefix), and ranges of them. */
const ROOT = '/registry'

export interface EtcdRange {
  readonly key: Buffer
  readonly range_end: Buffer
}

/** Every key that etcd has. */
export const EVERYTHING: EtcdRange = { key: Buffer.of(0), range_end: Buffer.of(0) }

export interface Keys {
  /** @throws RangeError for a key that is not under /registry */
  toEtcd(key: string): Buffer
  /** undefined: the key is another's. */
  ofEtcd(key: Buffer): string | undefined
  /** Keys k with start <= k < end that are under the prefix. */
  range(start: string, end: string): EtcdRange
  /** All that are under the prefix. */
  readonly all: EtcdRange
}

export function createKeys(prefix: string): Keys {
  const own = Buffer.from(`${prefix}/`)
  const behind = Buffer.from(`${prefix}0`)
  const isOwn = (key: Buffer) => key.length >= own.length && own.compare(key, 0, own.length) === 0
  const bound = (key: string): Buffer => {
    if (key.startsWith(`${ROOT}/`)) return Buffer.from(prefix + key.slice(ROOT.length))
    return key <= ROOT ? own : behind
  }
  return {
    toEtcd(key) {
      if (!key.startsWith(`${ROOT}/`)) throw new RangeError(`the key ${key} is not under ${ROOT}`)
      return Buffer.from(prefix + key.slice(ROOT.length))
    },
    ofEtcd: (key) => (isOwn(key) ? `${ROOT}/${key.toString('utf8', own.length)}` : undefined),
    range: (start, end) => ({ key: bound(start), range_end: bound(end) }),
    all: { key: own, range_end: behind },
  }
}
