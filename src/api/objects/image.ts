/** References to container images: `[host[:port]/]path[:tag][@digest]`. */

const component = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const host = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::[0-9]+)?$/
const tagShape = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
const digestShape = /^[A-Za-z][A-Za-z0-9]*(?:[+.\-_][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/

/** The tag an image reference means: `latest` when neither tag nor digest is given; '' for a digest alone or no reference. */
export function imageTag(reference: string): string {
  if (reference.length > 4096) return ''
  const at = reference.indexOf('@')
  const digest = at < 0 ? '' : reference.slice(at + 1)
  const named = at < 0 ? reference : reference.slice(0, at)
  const colon = named.lastIndexOf(':')
  const tag = colon > named.lastIndexOf('/') ? named.slice(colon + 1) : undefined
  const name = tag === undefined ? named : named.slice(0, colon)
  if (at >= 0 && !digestShape.test(digest)) return ''
  if (tag !== undefined && !tagShape.test(tag)) return ''
  if (!isImageName(name)) return ''
  return tag ?? (digest === '' ? 'latest' : '')
}

function isImageName(name: string): boolean {
  const parts = name.split('/')
  const first = parts[0]!
  const isHost = parts.length > 1 && (/[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first)
  if (isHost && !host.test(first)) return false
  return (isHost ? parts.slice(1) : parts).every((part) => part.length <= 255 && component.test(part))
}
