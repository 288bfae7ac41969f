import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkSettler, waitingLinks } from './pod-links.ts'

test('links whose address of IPv6 is still looked for are found by it, and no interface of others', () => {
  const text = [
    'fd000010024400000000000000000001 03 80 00 40 veth6c65d765',
    'fd000010024400000000000000000001 04 80 00 82 veth10f16702',
    'fd000010024400000000000000000001 02 40 00 40 skiff-a',
    'fd000010024400010000000000000001 05 80 00 40 veth20f16702',
    'fe80000000000000a44e36fffe7debc4 03 40 20 c0 veth6c65d765',
    '',
  ].join('\n')
  assert.deepEqual(waitingLinks(text, 'fd00:10:244::1'), ['veth6c65d765'])
})

test('of two pods that start at once each has its link settled once: what is in use stays', async () => {
  let text = 'fd000010024400000000000000000001 03 80 00 40 vetha\n'
  const scripts: string[] = []
  const begun = Promise.withResolvers<void>()
  const settle = linkSettler('fd00:10:244::1', {
    addresses: () => text,
    async run(_, __, script = '') {
      scripts.push(script)
      await begun.promise
      text = text.replaceAll(' 40 veth', ' 82 veth')
      return ''
    },
  })
  const both = [settle(), settle()]
  begun.resolve()
  await Promise.all(both)
  assert.deepEqual(scripts, [
    'address flush dev vetha\naddress replace fd00:10:244::1/128 dev vetha nodad\naddress replace fe80::1/64 dev vetha nodad\n',
  ])
  text += 'fd000010024400000000000000000001 04 80 00 40 vethb\n'
  await settle()
  assert.deepEqual(
    scripts.slice(1).map((script) => /vetha|vethb/.exec(script)?.[0]),
    ['vethb'],
  )
})
