import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rewriteLinks } from './html-links.ts'

async function rewritten(page: string, size = page.length): Promise<string> {
  async function* chunks() {
    const bytes = Buffer.from(page)
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const parts: Uint8Array[] = []
  for await (const part of rewriteLinks(chunks(), (link) => (link.startsWith('/') ? `/through${link}` : link)))
    parts.push(part)
  return Buffer.concat(parts).toString()
}

test('links lead where they are sent, and everything else stays as it was', async () => {
  const page = `<!DOCTYPE html><html><head><title>Grüße & more</title><script>if (a < b) location = "/x"</script></head>
<body ><a class='k' href="/one?a=1&b=2">1</a><img src=/two.png><a href=three>3</a><p href="/no">&nbsp;</p></body></html>`
  const expected = page
    .replace(`<a class='k' href="/one?a=1&b=2">`, '<a class="k" href="/through/one?a=1&amp;b=2">')
    .replace('<img src=/two.png>', '<img src="/through/two.png">')
  assert.equal(await rewritten(page), expected)
})

test('a page that comes byte by byte is rewritten alike', async () => {
  const page = '<p>Ä<a href="/one">1</a></p>'
  assert.equal(await rewritten(page, 1), '<p>Ä<a href="/through/one">1</a></p>')
})
