/**
 * Places that look for something in an error's own text: what went wrong travels as a type (a class, a kind, a code), and words are
 * made of it where it is told. What other programs say has nothing but its text: `reasonOfSearch` names the files that read it.
 */

/** A message by the name that it goes by, or made by what makes messages of errors. */
const TEXT = String.raw`(?:\b(?:message|warning|problem|wrong|why|error|cause)\b|\b(?:messageOf|reasonOf|problemText|strictText|misfitText)\([^()]*\))`
const MESSAGE = String.raw`\b(?:message|warning|problem|wrong|why)\b`

const PATTERNS: readonly RegExp[] = [
  // message.includes('…')
  new RegExp(
    String.raw`${TEXT}\)?[?!]?\s*\??\.(?:includes|startsWith|endsWith|match|matchAll|search|indexOf|lastIndexOf|replace|replaceAll)\((?:['"/${'`'}]|[A-Z])`,
    'g',
  ),
  // /…/.test(error.message), PATTERN.exec(message)
  new RegExp(String.raw`\.(?:test|exec)\((?:\(\w+ as \w+\)\.|\w+[?!]?\.|String\()*${MESSAGE}[^.\w(]`, 'g'),
  // /…/.test(messageOf(error))
  /\.(?:test|exec)\((?:messageOf|reasonOf|problemText|strictText|misfitText)\(/g,
  // message === 'x', message !== CONSTANT, message === madeMessage(…)
  new RegExp(String.raw`(?<!typeof )${MESSAGE} [!=]== (?:'[^']|"[^"]|${'`'}|[A-Z][A-Z_]+\b|\w+Message\()`, 'g'),
]

/** The lines, counted from one, where a text is searched: a line once for each time. */
export function searchedTexts(source: string): readonly number[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, (comment) => comment.replace(/[^\n]/g, ' '))
  const found = PATTERNS.flatMap((pattern) => Array.from(code.matchAll(pattern), ({ index }) => index))
  return found.map((at) => code.slice(0, at).split('\n').length).sort((a, b) => a - b)
}

const OF_OTHERS: Readonly<Record<string, string>> = {
  'src/storage/etcd/errors.ts': 'etcd tells by the text alone which of its errors it is',
  'src/api/codec/yaml-errors.ts': 'the YAML parser’s errors, of which Go’s words are made',
  'src/http/network-error.ts': 'where a write fails in a handshake, OpenSSL tells why in the text alone',
  'src/api/schema/structural/check-schema.ts': 'what a rule is to say, which its author must not break into lines',
  'src/kubelet/machine/pod-links.ts': 'the command ip tells by its text alone that a link is gone',
  'src/inspect/': 'answers of any cluster, as its API server and its webhooks worded them',
}

/** Why texts are searched in a file; undefined where they must not be. */
export const reasonOfSearch = (file: string): string | undefined =>
  Object.entries(OF_OTHERS).find(([place]) => file.startsWith(place))?.[1]
