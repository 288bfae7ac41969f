/**
 * Headers that belong to one connection, not to the message: what passes a message on leaves them out, both ways (RFC 9110, section
 * 7.6.1). They are some by their names, and those that the message's own `Connection` names.
 */

const ALWAYS = new Set([
  ...['connection', 'http2-settings', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
])

/** By lower-case name. `connection` is the message's header of that name, one value or several. */
export function hopByHop(connection: string | readonly string[] | undefined): (name: string) => boolean {
  if (connection === undefined) return (name) => ALWAYS.has(name)
  const named = new Set([connection].flat().flatMap((value) => tokensOf(value)))
  return (name) => ALWAYS.has(name) || named.has(name)
}

/** The words of a list header, lower-case. */
export const tokensOf = (value: string): readonly string[] =>
  value.split(',').flatMap((token) => token.trim().toLowerCase() || [])
