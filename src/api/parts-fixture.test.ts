/** A memory of parts, and parts that it knows, as tests of its users need them. */
import type { Fields } from './object.ts'
import { createParts, createPartTexts } from './parts.ts'

export function partsForTest() {
  const texts = createPartTexts()
  const parts = createParts(texts)
  let count = 0
  /** As if the part had been read twice, in words of its own. */
  function known<P extends Fields>(part: P): P {
    const text = `${count++}`.padStart(64)
    for (let turn = 0; turn < 2; turn++) parts.remember(text, part, 1)
    // A text that is kept would hold the part.
    texts.delete(text)
    return part
  }
  return { parts, known }
}
