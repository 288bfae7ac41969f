/** The page's words can be read on all it is written on, by light and by dark (WCAG 2.1, contrast minimum). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const css = readFileSync(new URL('../../src/ui/page/page.css', import.meta.url), 'utf8')
const coloursIn = (block: string | undefined) =>
  new Map([...(block ?? '').matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name, colour]) => [name!, colour!]))
const light = coloursIn(css.match(/^:root \{[^}]*\}/m)?.[0])
const dark = new Map([...light, ...coloursIn(css.match(/^:root\[data-theme="dark"\] \{[^}]*\}/m)?.[0])])

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}
function contrast(a: string, b: string): number {
  const [darker, lighter] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (lighter! + 0.05) / (darker! + 0.05)
}

test('a verdict that something fails is told apart from every ground by 4.5 to 1', () => {
  const name = css.match(/\.verdict-cannot-end \{\s*color: var\(--([a-z-]+)\)/)?.[1] ?? ''
  for (const [theme, colours] of Object.entries({ light, dark }))
    for (const ground of ['ground', 'frame', 'panel', 'card', 'wash']) {
      const ratio = contrast(colours.get(name)!, colours.get(ground)!)
      assert.ok(ratio >= 4.5, `${theme}: --${name} on --${ground} is ${ratio.toFixed(2)}:1`)
    }
})
