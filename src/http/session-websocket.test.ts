import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusText } from './session-websocket.ts'

const told = (text: string) => JSON.parse(statusText(Buffer.from(text)).toString())

test('success and exit codes are told as the kubelet tells them', () => {
  const exited = { metadata: {}, status: 'Failure', reason: 'NonZeroExitCode', details: { causes: [{ message: '3' }] } }
  assert.deepEqual(told(JSON.stringify(exited)), exited)
  assert.deepEqual(told(''), { metadata: {}, status: 'Success' })
  const causes = [{ reason: 'ExitCode', message: '2' }]
  const byRuntime = { ...exited, message: 'error executing command [sh -c], exit code 2', details: { causes } }
  const message = 'command terminated with non-zero exit code: command terminated with exit code 2'
  assert.deepEqual(told(JSON.stringify(byRuntime)), { ...byRuntime, message })
})

test('any other failure is an internal error, as kube-apiserver tells it', () => {
  const failed = {
    status: 'Failure',
    reason: 'InternalError',
    message: 'Internal error occurred: no such command',
    code: 500,
  }
  const { reason, message, code, kind } = told(JSON.stringify(failed))
  assert.equal(kind, undefined)
  assert.deepEqual(
    [reason, message, code],
    ['InternalError', 'Internal error occurred: Internal error occurred: no such command', 500],
  )
  assert.equal(told('plain words').message, 'Internal error occurred: plain words')
})
