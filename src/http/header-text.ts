/** Texts in headers: their bytes are UTF-8, as Go reads and writes them, where Node has a character for each byte. */

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/** What a header that was received says. */
export const decodeHeader = (value: string): string =>
  isAscii(value) ? value : Buffer.from(value, 'latin1').toString('utf8')

/** A text as it is given to Node to be sent; what no header may hold is left, and Node throws. */
export const encodeHeader = (text: string): string => (isAscii(text) ? text : Buffer.from(text).toString('latin1'))
