/** What the CEL expressions that select devices know: one device, its attributes and capacities by domain and name. */
import type { Device, DeviceAttribute } from '../generated/types.ts'
import { quantity, semver } from './libraries.ts'
import { BOOL, DYN, mapOf, type ObjectField, QUANTITY, STRING, type Type } from './types.ts'
import { MapValue, type Value } from './values.ts'

const fields: Readonly<Record<string, Type>> = {
  driver: STRING,
  attributes: mapOf(STRING, mapOf(STRING, DYN)),
  capacity: mapOf(STRING, mapOf(STRING, QUANTITY)),
  allowMultipleAllocations: BOOL,
}

export const DEVICE_VARIABLES: ReadonlyMap<string, Type> = new Map<string, Type>([
  [
    'device',
    {
      kind: 'object',
      name: 'kubernetes.DRADevice',
      fields: new Map(Object.entries(fields).map(([name, type]): [string, ObjectField] => [name, { name, type }])),
    },
  ],
])

type Entry = readonly [Value, Value]

/** A domain in which a device has nothing is there all the same. */
class Domains extends Map<string, Entry> {
  override get(key: string): Entry | undefined {
    return super.get(key) ?? (key.startsWith('s') ? [key.slice(1), new MapValue(new Map())] : undefined)
  }
}

export function deviceValue(driver: string, device: Device): Value {
  const record: Readonly<Record<string, Value>> = {
    driver,
    attributes: byDomain(driver, device.attributes ?? {}, attributeValue),
    capacity: byDomain(driver, device.capacity ?? {}, ({ value }) => quantity(value)),
    allowMultipleAllocations: device.allowMultipleAllocations === true,
  }
  return new MapValue(
    new Map(Object.entries(record).map(([name, value]): [string, Entry] => [`s${name}`, [name, value]])),
  )
}

/** Names without a domain are in the driver's. */
function byDomain<Field>(
  driver: string,
  named: Readonly<Record<string, Field>>,
  wrapField: (field: Field) => Value,
): MapValue {
  const domains = new Map<string, Map<string, Entry>>()
  for (const [qualified, field] of Object.entries(named)) {
    const at = qualified.indexOf('/')
    const [domain, name] = at < 0 ? [driver, qualified] : [qualified.slice(0, at), qualified.slice(at + 1)]
    const entries = domains.get(domain) ?? new Map<string, Entry>()
    domains.set(domain, entries)
    entries.set(`s${name}`, [name, wrapField(field)])
  }
  return new MapValue(
    new Domains(
      [...domains].map(([domain, entries]): [string, Entry] => [`s${domain}`, [domain, new MapValue(entries)]]),
    ),
  )
}

function attributeValue({ int, bool, string, version }: DeviceAttribute): Value {
  if (int !== undefined) return BigInt(int)
  if (bool !== undefined) return bool
  if (string !== undefined) return string
  return version === undefined ? null : semver(version)
}
