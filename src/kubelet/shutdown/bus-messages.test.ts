import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BusMessage, messageReader, writeMessage } from './bus-messages.ts'

const reading = () => {
  const messages: BusMessage[] = []
  return { messages, read: messageReader((message) => messages.push(message)) }
}

test('a message is written as the specification lays it out, and read again, in whatever pieces it comes', () => {
  const header = {
    type: 'call',
    serial: 7,
    path: '/a',
    member: 'M',
    destination: 'b.c',
    signature: 'sua(ssu)v',
  } as const
  const body = ['text', 5, [['a', 'b', 1]], ['t', 9n]] as const
  const bytes = writeMessage(header, body)
  assert.equal(Buffer.from(bytes.subarray(0, 4)).toString('hex'), '6c010001')
  const { messages, read } = reading()
  for (const byte of [...bytes, ...bytes]) read(Uint8Array.of(byte))
  const read1 = { ...header, body: ['text', 5, [['a', 'b', 1]], 9n] }
  assert.deepEqual(messages, [read1, read1])
})

test('a machine of the other byte order is understood', () => {
  // A return to call 5 with the numbers 2 and 1.
  const bytes = Buffer.from('42020001' + '00000008' + '00000003' + '0000000f', 'hex')
  const fields = Buffer.from('0501750000000005' + '08016700' + '02757500', 'hex')
  const { messages, read } = reading()
  read(Buffer.concat([bytes, fields, Buffer.alloc(0), Buffer.from('0000000200000001', 'hex')]))
  assert.deepEqual(messages, [{ type: 'return', serial: 3, replySerial: 5, signature: 'uu', body: [2, 1] }])
})

test('what is no message, or far too large, or ends before its text, is refused', () => {
  assert.throws(() => reading().read(Buffer.from('HTTP/1.1 400 Bad Request\r\n')), /no message of D-Bus/)
  const large = writeMessage({ type: 'signal', serial: 1 })
  Buffer.from(large.buffer, large.byteOffset).writeUInt32LE(200_000_000, 4)
  assert.throws(() => reading().read(large), /more than D-Bus is asked for/)
  const short = writeMessage({ type: 'signal', serial: 1, signature: 's' }, ['text'])
  Buffer.from(short.buffer, short.byteOffset).writeUInt32LE(900, short.length - 9)
  assert.throws(() => reading().read(short), RangeError)
})
