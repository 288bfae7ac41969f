import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from './metrics.ts'

test('counters and gauges print one line a series, sorted by name, with escaped labels', () => {
  const metrics = createMetrics()
  metrics.gauge('b', 'Bees.').child().set(3)
  const hits = metrics.counter('a_total', 'Hits.', ['path'])
  hits.child('say "hi"\n').add()
  hits.child('say "hi"\n').add(2)
  assert.equal(
    metrics.text(),
    '# HELP a_total Hits.\n# TYPE a_total counter\na_total{path="say \\"hi\\"\\n"} 3\n# HELP b Bees.\n# TYPE b gauge\nb 3\n',
  )
})

test('a histogram counts into the first bucket that is large enough, and prints them added up', () => {
  const metrics = createMetrics()
  const seconds = metrics.histogram('s', 'Seconds.', ['verb'], [0.1, 1]).child('GET')
  for (const value of [0.1, 0.5, 7]) seconds.observe(value)
  assert.deepEqual(metrics.text().split('\n').slice(2, -1), [
    's_bucket{verb="GET",le="0.1"} 1',
    's_bucket{verb="GET",le="1"} 2',
    's_bucket{verb="GET",le="+Inf"} 3',
    's_sum{verb="GET"} 7.6',
    's_count{verb="GET"} 3',
  ])
})

test('a family asked for twice is the same, one without series prints nothing', () => {
  const metrics = createMetrics()
  metrics.counter('n', 'N.').child().add()
  metrics.counter('n', 'N.').child().add()
  metrics.counter('silent', 'Nothing.', ['x'])
  metrics.sampled('z', 'Sampled.', ['k'], () => [[4, 'v']])
  assert.equal(metrics.text(), '# HELP n N.\n# TYPE n counter\nn 2\n# HELP z Sampled.\n# TYPE z gauge\nz{k="v"} 4\n')
})

test('reset, counters and histograms are gone until they are touched again; gauges stay', () => {
  const metrics = createMetrics()
  const hits = metrics.counter('hits', 'Hits.').child()
  const seconds = metrics.histogram('s', 'Seconds.', [], [1]).child()
  metrics.gauge('open', 'Open.').child().set(2)
  hits.add(5)
  seconds.observe(3)
  metrics.reset()
  assert.equal(metrics.text(), '# HELP open Open.\n# TYPE open gauge\nopen 2\n')
  hits.add()
  seconds.observe(0.5)
  assert.match(metrics.text(), /^hits 1$/m)
  assert.match(metrics.text(), /^s_sum 0.5$/m)
})

test('what several sample under one name is printed together', () => {
  const metrics = createMetrics()
  for (const [name, value] of [
    ['a', 1],
    ['b', 2],
  ] as const)
    metrics.sampled('open', 'Open.', ['name'], () => [[value, name]])
  assert.match(metrics.text(), /^open\{name="a"\} 1\nopen\{name="b"\} 2$/m)
})

test('numbers are printed as Go prints them', () => {
  const metrics = createMetrics()
  const numbers = metrics.gauge('n', 'N.', ['of'])
  for (const value of [0.25, 1e-6, 999_999, 1e6, 1_048_576, Number.POSITIVE_INFINITY])
    numbers.child(String(value)).set(value)
  const printed = metrics.text().matchAll(/^n\{.*\} (.*)$/gm)
  assert.deepEqual(
    [...printed].map((match) => match[1]),
    ['0.25', '1e-06', '999999', '1e+06', '1.048576e+06', '+Inf'],
  )
})
