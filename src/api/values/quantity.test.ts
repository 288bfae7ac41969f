import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addQuantities, canonicalQuantity, compareQuantities, QuantityError, quantityValue } from './quantity.ts'

test('a quantity is written with the largest suffix that keeps it exact', () => {
  const written = {
    '1000m': '1',
    '0.5': '500m',
    '1.5Gi': '1536Mi',
    '0.1Ki': '102400m',
    '1e3': '1e3',
    '1000000k': '1G',
    '0Gi': '0',
  }
  for (const [text, canonical] of Object.entries(written)) assert.equal(canonicalQuantity(text), canonical)
})

test('a quantity finer than a nano is rounded away from zero', () => {
  assert.equal(canonicalQuantity('0.0000000001'), '1n')
})

test('what is no quantity is refused in the words of the API', () => {
  assert.throws(() => canonicalQuantity('1x'), /must match the regular expression/)
  assert.throws(() => canonicalQuantity('1k5'), /unable to parse quantity's suffix/)
  assert.throws(() => canonicalQuantity('.'), QuantityError)
})

test('quantities compare and add by value, whatever their suffix', () => {
  assert.equal(compareQuantities('1024Mi', '1Gi'), 0)
  assert.ok(compareQuantities('1Gi', '1G') > 0)
  assert.equal(addQuantities('500m', '1'), '1500m')
  assert.equal(quantityValue('1500m'), 2n)
})

test('a text that differs from the canonical one by a plus, leading zeros, a point or the exponent keeps its spelling', () => {
  for (const text of ['+1', '05', '5.', '5.k', '1E3', '+1Ki', '001500m']) assert.equal(canonicalQuantity(text), text)
  assert.equal(canonicalQuantity('5.0'), '5')
  assert.equal(canonicalQuantity('+1000'), '1k')
  assert.equal(canonicalQuantity('00'), '0')
})

test('only binary amounts are held to 64 bits', () => {
  assert.equal(canonicalQuantity('100Ei'), '9223372036854775807')
  assert.equal(canonicalQuantity('999999999999999999999'), '999999999999999999999')
  assert.equal(canonicalQuantity('1e19'), '10e18')
})
