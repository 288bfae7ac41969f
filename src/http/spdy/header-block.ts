/**
 * Header blocks of SPDY/3 (its draft, sections 2.6.10 and 2.6.10.1): pairs of names and values in one zlib stream a direction,
 * with a dictionary both sides know. What is sent is left uncompressed inside that stream (stored blocks): a session has a
 * handful of headers, and so needs no state.
 */
import { createInflate } from 'node:zlib'
import { SpdyError } from './frames.ts'

/** Lower-case names. */
export type SpdyHeaders = Readonly<Record<string, string>>

const sized = (text: string): string => String.fromCharCode(0, 0, 0, text.length) + text

/** The dictionary that the draft gives: words with their lengths before them, then text. */
const WORDS =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow ' +
  'authorization cache-control connection content-base content-encoding content-language content-length ' +
  'content-location content-md5 content-range content-type date etag expect expires from host if-match ' +
  'if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma ' +
  'proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade ' +
  'user-agent vary via warning www-authenticate method get status'
const TEXT =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative ' +
  'Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal ' +
  'Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, ' +
  'Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,' +
  'application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=' +
  'iso-8859-1,utf-,*,enq=0.'
export const DICTIONARY = Buffer.from(
  WORDS.split(' ').map(sized).join('') +
    ['200 OK', 'version', 'HTTP/1.1', 'url', 'public', 'set-cookie', 'keep-alive', 'origin'].map(sized).join('') +
    TEXT,
  'latin1',
)

/** The beginning of a zlib stream with that dictionary: method, flags, and the dictionary's Adler-32. */
const STREAM_HEAD = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2])
/** Of one block as it is on the wire the rest: the sum of what names and values may have. */
const MAX_INFLATED_BYTES = 64 * 1024
const MAX_STORED = 0xffff
/** An empty block, as a flush of zlib ends: Go's reader gives out what came before only when it sees one. */
const FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff])

/** What is sent on one connection, in the order in which it is sent. */
export function createHeaderWriter(): (headers: SpdyHeaders) => Buffer {
  let begun = false
  return (headers) => {
    const pairs = Object.entries(headers)
    const parts: Buffer[] = [word(pairs.length)]
    // The draft forbids capitals in names, and Go's reader ends the connection at one.
    for (const [name, value] of pairs)
      for (const text of [name.toLowerCase(), value]) {
        const bytes = Buffer.from(text)
        parts.push(word(bytes.length), bytes)
      }
    const plain = Buffer.concat(parts)
    const blocks: Buffer[] = begun ? [] : [STREAM_HEAD]
    begun = true
    for (let at = 0; at < plain.length; at += MAX_STORED) blocks.push(...stored(plain.subarray(at, at + MAX_STORED)))
    blocks.push(FLUSH)
    return Buffer.concat(blocks)
  }
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A block of DEFLATE that is not compressed, and not the last. */
function stored(bytes: Buffer): readonly Buffer[] {
  const head = Buffer.alloc(5)
  head.writeUInt16LE(bytes.length, 1)
  head.writeUInt16LE(~bytes.length & 0xffff, 3)
  return [head, bytes]
}

export interface HeaderReader {
  /** The headers of one block; blocks are given in the order in which they came, one after another. Rejects with SpdyError. */
  read(block: Buffer): Promise<SpdyHeaders>
  close(): void
}

export function createHeaderReader(): HeaderReader {
  const inflate = createInflate({ dictionary: DICTIONARY })
  let parts: Buffer[] = []
  let size = 0
  let failed: ((error: Error) => void) | undefined
  inflate.on('data', (part: Buffer) => {
    size += part.length
    if (size > MAX_INFLATED_BYTES) failed?.(new SpdyError(`headers of more than ${MAX_INFLATED_BYTES} bytes`))
    else parts.push(part)
  })
  inflate.on('error', (error) => failed?.(new SpdyError(`headers cannot be inflated: ${error.message}`)))
  return {
    read: (block) =>
      new Promise((resolve, reject) => {
        parts = []
        size = 0
        failed = (error) => {
          inflate.destroy()
          reject(error)
        }
        if (inflate.destroyed) return reject(new SpdyError('the headers before could not be read'))
        inflate.write(block, () => {
          if (size > MAX_INFLATED_BYTES) return
          try {
            resolve(parse(Buffer.concat(parts)))
          } catch (error) {
            reject(error)
          }
        })
      }),
    close: () => inflate.destroy(),
  }
}

/** Values that a header has several of are joined by NUL; names count in lower case. @throws SpdyError */
function parse(bytes: Buffer): SpdyHeaders {
  let at = 0
  const next = (): number => {
    if (at + 4 > bytes.length) throw new SpdyError('headers end in the middle')
    at += 4
    return bytes.readUInt32BE(at - 4)
  }
  const text = (): string => {
    const length = next()
    if (length > bytes.length - at) throw new SpdyError('headers end in the middle')
    at += length
    return bytes.toString('utf8', at - length, at)
  }
  const headers = new Map<string, string>()
  for (let left = next(); left > 0; left--) {
    const name = text().toLowerCase()
    headers.set(name, text())
  }
  return Object.fromEntries(headers)
}
