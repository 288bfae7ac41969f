/** URLs for CEL: read as Kubernetes reads them, which keeps every part as it was written (no port goes, no host is made another). */
import { parseUrl, type Url, UrlError, unescaped } from '../objects/url.ts'
import { goQuote } from '../quote.ts'
import { fn, method, type Overload } from './functions.ts'
import { BOOL, listType, mapOf, STRING, type Type } from './types.ts'
import { CelError, MapValue, Opaque, type Value } from './values.ts'

/** @throws UrlError */
function urlOf(text: string): Url {
  parseUrl(text, true)
  const [beforeFragment = '', ...after] = text.split('#')
  const url = parseUrl(beforeFragment, false)
  unescaped(after.join('#'), 'other')
  return url
}

/** What is wrong with a text as a request's URL, as Go tells it. */
export function uriProblems(text: string): readonly string[] {
  try {
    parseUrl(text, true)
    return []
  } catch (error) {
    if (error instanceof UrlError) return [`parse ${goQuote(text)}: ${error.message}`]
    throw error
  }
}

function isUrl(text: string): boolean {
  try {
    urlOf(text)
    return true
  } catch (error) {
    if (error instanceof UrlError) return false
    throw error
  }
}

function url(text: string): Opaque {
  try {
    return new Opaque('kubernetes.URL', urlOf(text), text)
  } catch (error) {
    if (!(error instanceof UrlError)) throw error
    throw new CelError(`URL parse error during conversion from string: parse ${goQuote(text)}: ${error.message}`)
  }
}

/** The host's name without brackets, and its port. */
function hostAndPort(host: string): readonly [string, string] {
  const [, name = '', port] = /^(.*?)(?::([0-9]*))?$/s.exec(host) ?? []
  return [name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name, port ?? '']
}

function queryOf(query: string): MapValue {
  const values = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const [key = '', ...rest] = pair.split('=')
    try {
      const [name = '', value = ''] = [key, rest.join('=')].map((one) => unescaped(one.replaceAll('+', ' '), 'other'))
      values.set(name, [...(values.get(name) ?? []), value])
    } catch (error) {
      if (!(error instanceof UrlError)) throw error
    }
  }
  return new MapValue(
    new Map([...values].map(([key, all]): [string, readonly [Value, Value]] => [`s${key}`, [key, all]])),
  )
}

export function urlLibrary(URL_TYPE: Type): Record<string, readonly Overload[]> {
  const part = (of: (url: Url) => string) => [method([URL_TYPE], STRING, ({ data }: Opaque) => of(data))]
  return {
    url: [fn([STRING], URL_TYPE, url)],
    isURL: [fn([STRING], BOOL, isUrl)],
    getScheme: part(({ scheme }) => scheme),
    getHost: part(({ host }) => host),
    getHostname: part(({ host }) => hostAndPort(host)[0]),
    getPort: part(({ host }) => hostAndPort(host)[1]),
    getEscapedPath: part(({ path }) => path),
    getQuery: [method([URL_TYPE], mapOf(STRING, listType(STRING)), ({ data }: Opaque) => queryOf(data.query))],
  }
}
