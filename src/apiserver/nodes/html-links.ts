/** Links of an HTML page rewritten while it passes, byte for byte but for them. The tokenizer is the library's. */
import { Readable } from 'node:stream'
import { RewritingStream } from 'parse5-html-rewriting-stream'

/** Which attributes of which elements lead somewhere (HTML 4.01, attributes of type URI). */
const LINKS: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
}

export function rewriteLinks(
  chunks: AsyncIterable<Uint8Array>,
  through: (link: string) => string,
): AsyncIterable<Uint8Array> {
  const rewriter = new RewritingStream()
  rewriter.on('startTag', (tag, raw) => {
    const names = LINKS[tag.tagName]
    let changed = false
    for (const attribute of names === undefined ? [] : tag.attrs) {
      if (!names?.includes(attribute.name)) continue
      const link = through(attribute.value)
      changed ||= link !== attribute.value
      attribute.value = link
    }
    if (changed) rewriter.emitStartTag(tag)
    else rewriter.emitRaw(raw)
  })
  const source = Readable.from(asText(chunks))
  source.on('error', (error) => rewriter.destroy(error))
  rewriter.on('close', () => source.destroy())
  return asBytes(source.pipe(rewriter))
}

/** Whatever the page's encoding is, its bytes come through: a character each. */
async function* asText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield Buffer.from(chunk).toString('latin1')
}

async function* asBytes(text: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of text) yield Buffer.from(part.toString(), 'latin1')
}
