/** Credentials for an image's registry, from a pod's image pull secrets. What a secret holds that cannot be read is passed over. */
import type { Secret } from '../../api/generated/types.ts'
import { fullImageName } from '../runtimes/image-names.ts'
import type { PullCredentials, RegistryCredentials } from '../runtimes/runtime.ts'

interface Entry {
  readonly username?: string
  readonly password?: string
  readonly auth?: string
}

/** The most exact path first. */
export function credentialsFor(image: string, secrets: readonly Secret[]): readonly PullCredentials[] {
  const name = fullImageName(image)
  const found: { readonly length: number; readonly credentials: PullCredentials }[] = []
  for (const secret of secrets)
    for (const [registry, entry] of Object.entries(entriesOf(secret))) {
      const place = registry.replace(/^https?:\/\//, '').replace(/\/(v[12]\/?)?$/, '')
      if (!matches(place === 'index.docker.io' ? 'docker.io' : place, name)) continue
      const credentials = credentialsOf(entry)
      if (credentials !== undefined)
        found.push({ length: place.length, credentials: { ...credentials, ...from(secret) } })
    }
  return found.sort((a, b) => b.length - a.length).map(({ credentials }) => credentials)
}

function from({ metadata: { uid, namespace, name } = {} }: Secret): Pick<PullCredentials, 'secret'> {
  return uid === undefined || namespace === undefined || name === undefined ? {} : { secret: { uid, namespace, name } }
}

function entriesOf({ data = {} }: Secret): Readonly<Record<string, Entry>> {
  const read = (key: string): unknown => {
    try {
      return JSON.parse(Buffer.from(data[key] ?? '', 'base64').toString())
    } catch {
      return undefined
    }
  }
  const config = read('.dockerconfigjson') as { readonly auths?: unknown } | undefined
  const entries = config?.auths ?? read('.dockercfg')
  return typeof entries === 'object' && entries !== null ? (entries as Readonly<Record<string, Entry>>) : {}
}

function credentialsOf({ username, password, auth }: Entry): RegistryCredentials | undefined {
  if (typeof auth === 'string' && auth !== '') {
    const text = Buffer.from(auth, 'base64').toString()
    const colon = text.indexOf(':')
    if (colon > 0) return { username: text.slice(0, colon), password: text.slice(colon + 1) }
  }
  if (typeof username === 'string' && typeof password === 'string') return { username, password }
  return undefined
}

/** `*.example.com/team` is a place of `a.example.com/team/image:tag`: stars stand within one part of a host's name. */
function matches(place: string, name: string): boolean {
  const [host = '', ...path] = place.split('/')
  const [itsHost = '', ...itsPath] = name.split('/')
  const [parts, itsParts] = [host.split('.'), itsHost.split('.')]
  if (parts.length !== itsParts.length) return false
  for (const [at, part] of parts.entries()) {
    if (!part.includes('*')) {
      if (part !== itsParts[at]) return false
      continue
    }
    const [before = '', after = ''] = part.split('*')
    const its = itsParts[at]!
    if (its.length < before.length + after.length || !its.startsWith(before) || !its.endsWith(after)) return false
  }
  return path.length === 0 || itsPath.join('/').startsWith(path.join('/'))
}
