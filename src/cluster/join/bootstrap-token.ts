/** Bootstrap tokens as text (API concept: bootstrap tokens): `id.secret`, by which a machine that joins a cluster proves itself once. */
import type { KubeObject } from '../../api/object.ts'
import { formatTime } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import { StartError } from '../errors.ts'

export interface BootstrapToken {
  readonly id: string
  readonly secret: string
}

/** What nodes that join are members of besides system:bootstrappers, as in a kubeadm cluster. */
export const JOINING_GROUP = 'system:bootstrappers:kubeadm:default-node-token'
export const TOKEN_TYPE = 'bootstrap.kubernetes.io/token'
const SHAPE = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** The last byte that does not make the first letters more likely than the others. */
const FAIR = 256 - (256 % ALPHABET.length)

/** @throws StartError for what is no token; it is not repeated: it may be one with a typing error */
export function readToken(text: string): BootstrapToken {
  const [, id, secret] = SHAPE.exec(text) ?? []
  if (id === undefined || secret === undefined)
    throw new StartError('the token is none: it has the form abcdef.0123456789abcdef; skiff token create makes one')
  return { id, secret }
}

export const tokenText = ({ id, secret }: BootstrapToken): string => `${id}.${secret}`

export function newToken(random: Random): BootstrapToken {
  return { id: letters(random, 6), secret: letters(random, 16) }
}

function letters(random: Random, length: number): string {
  let text = ''
  while (text.length < length)
    for (const byte of random.bytes(length))
      if (byte < FAIR && text.length < length) text += ALPHABET[byte % ALPHABET.length]
  return text
}

/** Its Secret in kube-system: it authenticates a node that joins, and signs kube-public/cluster-info, until it expires. */
export function tokenSecret(token: BootstrapToken, expiresMs: number | undefined, description?: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${token.id}`, namespace: 'kube-system' },
    type: TOKEN_TYPE,
    stringData: {
      'token-id': token.id,
      'token-secret': token.secret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': JOINING_GROUP,
      ...(expiresMs === undefined ? {} : { expiration: formatTime(expiresMs) }),
      ...(description === undefined ? {} : { description }),
    },
  }
}
