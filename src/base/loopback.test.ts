import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopback } from './loopback.ts'

test('loopback is localhost, ::1 with or without brackets, and 127.0.0.0/8', () => {
  for (const host of ['localhost', '::1', '[::1]', '127.0.0.1', '127.9.8.7']) assert.equal(isLoopback(host), true, host)
  for (const host of ['127.0.0.1.example.org', '127.0.0.1234', '128.0.0.1', '::', '[::1', 'localhost.example.org', ''])
    assert.equal(isLoopback(host), false, host)
})
