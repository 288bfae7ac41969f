import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BusMessage, type BusValue, messageReader, writeMessage } from './bus-messages.ts'

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

const signal = (serial: number, signature = '', body: readonly BusValue[] = []) =>
  Buffer.from(writeMessage({ type: 'signal', serial, signature }, body))
/** With another length of its body. */
const claiming = (message: Buffer, length: number) => {
  message.writeUInt32LE(length, 4)
  return message
}

test('what is no message, or larger than a bus passes on, is refused', () => {
  assert.throws(() => reading().read(Buffer.from('HTTP/1.1 400 Bad Request\r\n')), /no message of D-Bus/)
  assert.throws(() => reading().read(claiming(signal(1), 200_000_000)), /more than D-Bus allows/)
})

test('a message that is far too large is passed over, in whatever pieces it comes, and the next is read', () => {
  const large = signal(1, 's', ['x'.repeat(3 * 1024 * 1024)])
  for (const size of [100_000, large.length - 5, large.length + 20, 2 * large.length]) {
    const { messages, read } = reading()
    const bytes = Buffer.concat([large, signal(2), large, signal(3)])
    for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size))
    const serials = messages.map(({ serial }) => serial)
    assert.deepEqual(serials, [2, 3], `in pieces of ${size} bytes`)
  }
})

test('a message that cannot be read is passed over, and the next is read', () => {
  const short = signal(1, 's', ['text'])
  short.writeUInt32LE(900, short.length - 9)
  const { messages, read } = reading()
  // A list of structs of nothing would never come to its end.
  for (const signature of ['a()', 'a(())', 'a{}', '(', 'z']) {
    const unread = signal(2, 'u'.repeat(signature.length), [4, 4, 4, 4, 4])
    unread.write(signature, unread.indexOf('u'.repeat(signature.length)))
    read(unread)
  }
  read(Buffer.concat([short, signal(3)]))
  assert.deepEqual(messages, [{ type: 'signal', serial: 3, signature: '', body: [] }])
})
