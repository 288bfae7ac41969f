/** What an image may be called: names, tags and digests as container registries have them, where a missing registry is Docker's. */

const COMPONENT = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const HOST_LABEL = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])'
const HOST = `(?:${HOST_LABEL}(?:\\.${HOST_LABEL})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const TAG = '[\\w][\\w.-]{0,127}'
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}'
const REFERENCE = new RegExp(`^(${HOST}/)?(${COMPONENT}(?:/${COMPONENT})*)(?::${TAG})?(?:@(${DIGEST}))?$`)
const IDENTIFIER = /^[a-f0-9]{64}$/
const LONGEST_PATH = 255
/** Hexadecimal digits, by algorithm. */
const DIGITS: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 }

/** Why no image can have this name; undefined: one can. */
export function badImageName(image: string): string | undefined {
  if (IDENTIFIER.test(image)) return `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`
  const [host, rest] = withRegistry(image)
  const path = rest.split(':')[0]!
  if (path.toLowerCase() !== path) return `invalid reference format: repository name (${path}) must be lowercase`
  const match = REFERENCE.exec(`${host}/${rest}`)
  if (match === null) return 'invalid reference format'
  if (match[2]!.length > LONGEST_PATH) return `repository name must not be more than ${LONGEST_PATH} characters`
  return match[3] === undefined ? undefined : badDigest(match[3])
}

function withRegistry(image: string): readonly [host: string, rest: string] {
  const slash = image.indexOf('/')
  const first = image.slice(0, Math.max(0, slash))
  const isHost = first === 'localhost' || /[.:]/.test(first) || first.toLowerCase() !== first
  const rest = isHost ? image.slice(slash + 1) : image
  const isDocker = !isHost || first === 'docker.io' || first === 'index.docker.io'
  return isDocker ? ['docker.io', rest.includes('/') ? rest : `library/${rest}`] : [first, rest]
}

function badDigest(digest: string): string | undefined {
  const [algorithm = '', digits = ''] = digest.split(':')
  const wanted = Object.hasOwn(DIGITS, algorithm) ? DIGITS[algorithm] : undefined
  if (wanted === undefined) return 'unsupported digest algorithm'
  if (digits.length !== wanted) return 'invalid checksum digest length'
  return digits.toLowerCase() === digits ? undefined : 'invalid checksum digest format'
}
