/** Certificate requests (PKCS #10) as tests make them: signed as they must be, with any subject. */
import { generateKeyPairSync, sign } from 'node:crypto'
import {
  bitString,
  type Der,
  derInteger,
  objectIdentifier,
  sequence,
  set,
  tagged,
  utf8String,
} from '../../src/base/der.ts'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

export const [ORGANIZATION, COMMON_NAME] = [objectIdentifier('2.5.4.10'), objectIdentifier('2.5.4.3')]

/** As `spec.request` has it: PEM in base64. */
export function requestOf(subject: Der): string {
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const info = sequence(derInteger(Buffer.alloc(1)), subject, key, tagged(0, Buffer.alloc(0)))
  const signature = bitString(sign('sha256', info, privateKey))
  const body = sequence(info, sequence(objectIdentifier('1.2.840.10045.4.3.2')), signature).toString('base64')
  const text = `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`
  return Buffer.from(text).toString('base64')
}

/** Of a user without groups. */
export const certificateRequest = (user: string): string =>
  requestOf(sequence(set(sequence(COMMON_NAME, utf8String(user)))))
