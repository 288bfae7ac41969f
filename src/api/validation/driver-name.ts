/** A driver's name, of CSI or DRA: a DNS subdomain in any case. */
import { type FieldError, invalid, required, tooLong } from '../errors/field-errors.ts'
import { dns1123Subdomain } from '../names/name-formats.ts'

const MAX_DRIVER_NAME = 63

export function driverName(name: string, path: string, errors: FieldError[]): void {
  if (name === '') return void errors.push(required(path))
  if (Buffer.byteLength(name) > MAX_DRIVER_NAME) errors.push(tooLong(path, MAX_DRIVER_NAME))
  for (const message of dns1123Subdomain(name.toLowerCase())) errors.push(invalid(path, name, message))
}
