/** What a header's value says: its bytes are UTF-8, where Node gives each byte as a character. */
export function headerText(value: string): string {
  const isAscii = Buffer.byteLength(value) === value.length
  return isAscii ? value : Buffer.from(value, 'latin1').toString('utf8')
}
