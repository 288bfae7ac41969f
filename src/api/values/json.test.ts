import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import {
  encodeJson,
  heedKey,
  jsonText,
  NumberNode,
  ObjectNode,
  parseExactly,
  parseJson,
  parseWithKeys,
  prettyJson,
  scanJson,
} from './json.ts'

const at = (file: string) => JSON.stringify(new URL(file, import.meta.url).href)

test('syntax errors are those of Go', () => {
  for (const [text, message] of [
    ['nonsense', "invalid character 'o' in literal null (expecting 'u')"],
    ['{', 'unexpected end of JSON input'],
    ['', 'unexpected end of JSON input'],
    ['"a', 'unexpected end of JSON input'],
    ['{"a":nul', "invalid character ' ' in literal null (expecting 'l')"],
    ['[1.', "invalid character ' ' after decimal point in numeric literal"],
    ['1e+', "invalid character ' ' in exponent of numeric literal"],
    ['-', "invalid character ' ' in numeric literal"],
    ['"\\', "invalid character ' ' in string escape code"],
    ['"\\u12', "invalid character ' ' in \\u hexadecimal character escape"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['1 2', "invalid character '2' after top-level value"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12G4"', "invalid character 'G' in \\u hexadecimal character escape"],
    ['-a', "invalid character 'a' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['01', "invalid character '1' after top-level value"],
  ] as const)
    assert.throws(() => parseJson(text), { message }, text)
})

test('keys are those of the text, whatever began alike before: V8 compares them with their escapes', () => {
  const earlier = ['\\\\', '\\u005c', '\\\\n', 'a\\\\u0']
  const written = ['\\n', '\\ufffd', '\\"', '\\nx', 'a\\u0041b', 'b\\\\', '\\\\']
  let round = 0
  for (const parse of [parseExactly, parseWithKeys])
    for (const before of earlier)
      for (const key of written) {
        const text = (name: string) => `{"p${round}":1,"${name}":[{"n":12345678901234567890}, -0, 1.5]}`
        round++
        parse(text(before))
        const [, [found, value] = []] = Object.entries(parse(text(key)) as object)
        assert.equal(found, JSON.parse(`"${key}"`), `${key} after ${before}`)
        assert.deepEqual(value.slice(1), [-0, 1.5])
      }
  // In one text, where keys are twice, and where the earlier object came another way.
  const [, twice] = parseWithKeys('[{"q":1,"\\\\":2},{"q":1,"\\n":2,"q":3}]') as readonly object[]
  assert.deepEqual(twice, { q: 3, '\n': 2 })
  heedKey('\\')
  assert.equal(Object.keys({ 'only here': 1, '\\': 2 }).length, 2)
  assert.deepEqual(parseWithKeys('{"only here":1,"\\n":2}'), { 'only here': 1, '\n': 2 })
})

test('keys that path elements and fields set one by one bring are heeded as those of bodies', () => {
  // Whether one was seen is kept for the process: another begins without.
  const program = (bring: string) => `
    import { parseWithKeys } from ${at('./json.ts')}
    import { setOwn } from ${at('./maps-and-lists.ts')}
    import { canonicalPathElement } from ${at('../fields/pathelement.ts')}
    const made = {}
    ${bring}
    console.log(JSON.stringify(parseWithKeys(String.raw\`{"a":1,"b":1,"c":1,"\\n":2}\`)))`
  for (const bring of [
    "for (const name of ['a', 'b', 'c', String.fromCharCode(92)]) setOwn(made, name, 1)",
    'canonicalPathElement(String.raw`k:{"a":1,"b":1,"c":1,"\\\\":2}`)',
  ]) {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program(bring)], {
      encoding: 'utf8',
    })
    assert.equal(stdout.trim(), '{"a":1,"b":1,"c":1,"\\n":2}', `${bring}: ${stderr}`)
  }
})

test('what JSON.parse reads, parseJson reads', () => {
  const plain = (node: unknown): unknown =>
    node instanceof NumberNode
      ? Number(node.text)
      : node instanceof ObjectNode
        ? Object.fromEntries(node.entries.map(([key, value]) => [key, plain(value)]))
        : Array.isArray(node)
          ? node.map(plain)
          : node
  for (const text of [
    ' {"a" : [ 1, -2.5e3 , "\\u00e9\\n" , null ] , "b":{"c":{}},"d":[[],[{}]] } ',
    '0',
    '"x"',
    '[]',
    'true',
  ])
    assert.deepEqual(plain(parseJson(text)), JSON.parse(text))
})

test('keys keep their order and their duplicates', () => {
  const node = parseJson('{"2":1,"1":{"x":1,"x":2},"2":3}')
  assert.ok(node instanceof ObjectNode)
  assert.deepEqual(
    node.entries.map(([key]) => key),
    ['2', '1', '2'],
  )
})

test('nesting is bounded, and reading it takes no stack', () => {
  const deep = (open: string, close: string) => `{"\\\\":${open.repeat(9000)}1${close.repeat(9000)},"b":2}`
  for (const text of [deep('[', ']'), deep('{"a":', '}')])
    assert.deepEqual(Object.keys(parseExactly(text) as object), ['\\', 'b'])
  assert.doesNotThrow(() => parseJson('['.repeat(9000) + ']'.repeat(9000)))
  assert.throws(() => parseJson('['.repeat(20_000) + ']'.repeat(20_000)), {
    message: "invalid character '[' exceeded max depth",
  })
})

test('the scan finds what JSON.parse would lose', () => {
  const scan = (text: string) => scanJson(Buffer.from(text))
  const found = scan('{"a:b\\"":"c:1.5","d":[1,-2,true]}')
  assert.deepEqual(found, { keys: 2, plainNumbers: true, spec: undefined })
  for (const number of ['1.0', '1e2', '1E2', '-0', '12345678901234567'])
    assert.equal(scan(`{"a":${number}}`).plainNumbers, false, number)
})

test('the scan finds the spec of the top level, and no other', () => {
  const spec = (text: string) => {
    const found = scanJson(Buffer.from(text)).spec
    return found && [text.slice(found.start, found.end), found.keys]
  }
  assert.deepEqual(spec('{"spec":{"a":{"spec":[1,{"b":"}"}]}},"x":1}'), ['{"a":{"spec":[1,{"b":"}"}]}}', 3])
  assert.deepEqual(spec('{"a":{"spec":1},"b":["spec"],"spec" : "x" }'), [' "x" ', 0])
  assert.deepEqual(spec('{"spec":1,"spec":2}'), ['1', 0], 'the first of two')
  for (const text of ['{"a":"spec"}', '{"a":{"spec":1}}', '{"\\"spec":1}', '["spec",{"spec":1}]', '"spec"', '{"spec":'])
    assert.equal(spec(text), undefined, text)
})

test('bigints are written digit by digit', () => {
  const value = { a: 2n ** 63n - 1n, b: [1, 'x', undefined], c: undefined }
  assert.equal(jsonText(value), '{"a":9223372036854775807,"b":[1,"x",null]}')
  assert.equal(Buffer.from(encodeJson({ a: 1 })).toString(), '{"a":1}')
})

test('whole numbers of 64 bits are kept by every way to read and to write', () => {
  for (const text of ['{"a":9007199254740993}', '{ "a": 9007199254740993 }', '{"a":\n\t9007199254740993}'])
    assert.deepEqual(parseExactly(text), { a: 9007199254740993n })
  assert.deepEqual(parseExactly('{"a":1.5,"b":"9007199254740993"}'), { a: 1.5, b: '9007199254740993' })
  assert.equal(prettyJson({ a: [9007199254740993n, 1] }), '{\n  "a": [\n    9007199254740993,\n    1\n  ]\n}')
  assert.equal(jsonText({ a: 9007199254740993n }), '{"a":9007199254740993}')
})

test('half a character is the one for what is unknown, in keys and values, however deep; whole ones and what only looks so stay', () => {
  const text = String.raw`{"a\ud83d":["\ud83d\ude00","\ude00x","\\ud83d","\\\ud83d\n","\ud83d\ud83d\uDE00"]}`
  assert.deepEqual(parseExactly(text), { 'a\ufffd': ['😀', '\ufffdx', '\\ud83d', '\\\ufffd\n', '\ufffd😀'] })
  const deep = parseExactly(`${'['.repeat(100_000)}"\\ud800"${']'.repeat(100_000)}`)
  assert.ok(Array.isArray(deep))
})
