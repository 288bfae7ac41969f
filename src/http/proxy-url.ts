/** The URL of a proxy, with or without a user. What is wrong with it is told without the user, whose password it may hold. */

export const PROXY_SCHEMES: readonly string[] = ['http:', 'https:', 'socks5:']

export interface ProxyUrl {
  readonly url: URL
  readonly user?: { readonly name: string; readonly password: string }
}

/** @throws Error that says what is wrong, to be put behind the field's name */
export function readProxyUrl(text: string): ProxyUrl {
  const shown = JSON.stringify(withoutUser(text))
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !PROXY_SCHEMES.includes(url.protocol))
    throw new Error(`${shown} is no URL of http, https or socks5`)
  if (url.hostname === '') throw new Error(`${shown} names no host`)
  if (url.username === '' && url.password === '') return { url }
  try {
    return { url, user: { name: decodeURIComponent(url.username), password: decodeURIComponent(url.password) } }
  } catch (cause) {
    throw new Error(`${shown} has a user or password with a % that is no escape; write %25`, { cause })
  }
}

/** Whatever stands before the last @, but for the scheme: in what is no URL it may be a password. */
export const withoutUser = (text: string): string => text.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, '$1')
