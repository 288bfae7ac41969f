import assert from 'node:assert/strict'
import { test } from 'node:test'
import { templateFunctions } from './functions.ts'
import { compileTemplate } from './render.ts'
import { TemplateError } from './tokens.ts'

const rendered = (template: string, data: unknown = {}) => compileTemplate(template, templateFunctions).render(data)

test('fields, variables, range, with and if, as text/template has them', () => {
  const pod = {
    spec: { containers: [{ name: 'a' }, { name: 'b', image: 'x' }], empty: [] },
    labels: { z: '1', a: '2' },
  }
  assert.equal(rendered('{{ range .spec.containers }}[{{ .name }} {{ .image }}]{{ end }}', pod), '[a <no value>][b x]')
  assert.equal(rendered('{{ range $i, $c := .spec.containers }}{{ $i }}={{ $c.name }},{{ end }}', pod), '0=a,1=b,')
  assert.equal(rendered('{{ range $k, $v := .labels }}{{ $k }}{{ $v }}{{ end }}', pod), 'a2z1')
  assert.equal(rendered('{{ range .spec.none }}x{{ else }}none{{ end }}', pod), 'none')
  assert.equal(rendered('{{ with .spec.empty }}x{{ else with .labels }}{{ .z }}{{ end }}', pod), '1')
  assert.equal(rendered('{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $x := 3 }}{{ end }}{{ $x }}'), '2')
  assert.equal(rendered('{{ if eq .a "x" "y" }}1{{ else if not .b }}2{{ else }}3{{ end }}', { a: 'z', b: 1 }), '3')
  assert.equal(
    rendered(
      '{{ range . }}{{ if eq . 2 }}{{ continue }}{{ end }}{{ if eq . 4 }}{{ break }}{{ end }}{{ . }}{{ end }}',
      [1, 2, 3, 4, 5],
    ),
    '13',
  )
  assert.equal(rendered('a  {{- /* gone */ -}}  b {{- 1 }} {{ 2 -}} c'), 'ab1 2c')
  assert.equal(
    rendered('{{ ( index .spec.containers 1 ).name }}{{ $.labels.a }}{{ `raw "x"` }}{{ "a\\tb" }}', pod),
    'b2raw "x"a\tb',
  )
})

test('what is missing is nil: it equals nothing but nil, and or passes it over', () => {
  assert.equal(rendered('{{ eq .none "Always" }} {{ or .none.deeper "d" }} {{ and .none 1 }}'), 'false d <no value>')
  assert.equal(rendered('{{ default "x" .none | Quote }} {{ index .m "a" }}', { m: {} }), '"x" <no value>')
  assert.equal(rendered('{{ .constructor }} {{ index . "__proto__" }}'), '<no value> <no value>')
})

test('functions of Go, sprig and KWOK', () => {
  const cases: Readonly<Record<string, string>> = {
    'printf "%s-%d %5.2f|%-3s|%q %v" "a" 3 1.5 "b" "c" (list 1 "x")': 'a-3  1.50|b  |"c" [1 x]',
    'list "a" "b" | join "-" | upper': 'A-B',
    'add 1 2 | mul 3': '9',
    'dict "a" 1 | toJson': '{"a":1}',
    'YAML (dict "b" 1 "a" (list "x")) 1': '\n  a:\n    - x\n  b: 1\n  ',
    'Quote (list 1 "<")': '"[1,\\"\\\\u003c\\"]"',
    'len (NodeConditions)': '5',
    'ternary "y" "n" (hasPrefix "a" "abc")': 'y',
    'until 3 | last': '2',
    '"a,b" | splitList "," | first': 'a',
    'regexMatch "^a+$" "aaa"': 'true',
    'trunc -2 "abc"': 'bc',
    'dig "a" "b" "none" (dict "a" (dict "b" "x"))': 'x',
  }
  for (const [action, expected] of Object.entries(cases))
    assert.equal(rendered(`[{{ ${action} }}]`), `[${expected}]`, action)
})

test('what is not understood is an error in words of its own', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{{ nofunc 1 }}', /function "nofunc" not defined/],
    ['{{ if .a }}', /\{\{ end \}\} is missing/],
    ['{{ end }}', /unexpected \{\{ end \}\}/],
    ['{{ define "x" }}{{ end }}', /define \}\} is not known/],
    ['{{ .a', /unclosed action/],
    ['{{ }}', /missing value/],
    ['{{ "a }}', /unexpected/],
    ['{{ .a | .b }}', /must be a function/],
    ['{{ .a .b }}', /no function/],
    ['{{ $x }}', /undefined variable "\$x"/],
    ['{{ index .a 3 }}', /error calling index: index out of range/],
    ['{{ .s.x }}', /can't evaluate field x/],
    ['{{ lt 1 "a" }}', /incompatible types/],
    ['{{ div 1 0 }}', /divide by zero/],
    ['{{ repeat 1000000 "abc" }}', /more than/],
    ['{{ until 1000000 }}', /more than/],
    ['{{ range until 10000 }}{{ range until 10000 }}x{{ end }}{{ end }}', /more than|does not end/],
    [`${'{{ if true }}'.repeat(200)}${'{{ end }}'.repeat(200)}`, /nested/],
  ]
  for (const [template, words] of cases)
    assert.throws(() => rendered(template, { a: [1], s: 'text' }), words, template.slice(0, 60))
})

test('no template makes a value that a machine cannot bear, or works without end', () => {
  const grown = (start: string, step: string, print = '') =>
    `{{ $x := ${start} }}{{ range until 60 }}{{ $x = ${step} }}{{ end }}${print}`
  for (const template of [
    grown('list 1', 'concat $x $x'),
    grown('"ab"', 'print $x $x'),
    grown('list 1', 'list $x $x', '{{ $x }}'),
    grown('list 1', 'dict "a" $x "b" $x', '{{ toJson $x }}'),
    '{{ $x := repeat 50000 "a" }}{{ replace "a" $x $x }}',
    '{{ $x := repeat 50000 "a" }}{{ regexReplaceAll "a" $x $x }}',
    '{{ join (repeat 90000 "a") (until 9000) }}',
    '{{ indent 1000 (repeat 90000 "\\n") }}',
    '{{ printf (repeat 10000 "%9999d") }}',
    '{{ $x := repeat 100000 "a" }}{{ range until 3000 }}{{ $y := sha256sum $x }}{{ end }}',
    `{{ fromJson (printf "%s%s" (repeat 49999 "[") (repeat 49999 "]")) }}`,
  ])
    assert.throws(() => rendered(template), { constructor: TemplateError, message: /too large|more than|does not end/ })
  assert.equal(
    rendered('{{ len (uniq (until 10000)) }} {{ has 3 (list 1 3) }} {{ without (list 1 2) 1 }}'),
    '10000 true [2]',
  )
})
