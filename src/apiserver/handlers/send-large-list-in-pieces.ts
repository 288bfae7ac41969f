/**
 * A large list in a form that is made for its reader alone (a Table, metadata, YAML, indented JSON): it is made piece by piece
 * while it is sent, and stands nowhere whole.
 */

import { encodeYaml } from '../../api/codec/encode-yaml.ts'
import { asJson, type KubeObject } from '../../api/object.ts'
import { jsonText, prettyJson } from '../../api/values/json.ts'
import type { Representation } from './negotiate.ts'

export interface PiecedList {
  /** All of it but what `field` holds: `items`, `rows`. */
  readonly envelope: KubeObject
  readonly field: string
  readonly count: number
  /** What the field holds from one place to before another. */
  readonly part: (from: number, to: number) => readonly unknown[]
  /** The compact JSON of each of them, where that takes less than to make them. */
  readonly texts?: ((from: number, to: number) => readonly string[]) | undefined
}

/** Objects in one piece. */
const TOGETHER = 8

/** The same bytes as of the list encoded as a whole. */
export function* encodedPieces(
  list: PiecedList,
  { encoding, pretty }: Pick<Representation, 'encoding' | 'pretty'>,
): Generator<Uint8Array> {
  const { before, between, after, textOf } =
    encoding === 'yaml' ? asYaml(list) : pretty ? asPretty(list) : asCompact(list)
  yield Buffer.from(before)
  for (let from = 0; from < list.count; from += TOGETHER) {
    const text = textOf(from, Math.min(from + TOGETHER, list.count))
    yield Buffer.from(from === 0 ? text : between + text)
  }
  yield Buffer.from(after)
}

interface Around {
  readonly before: string
  readonly between: string
  readonly after: string
  readonly textOf: (from: number, to: number) => string
}

function asCompact({ envelope, field, part, texts }: PiecedList): Around {
  const whole = jsonText({ ...envelope, [field]: [] })
  return {
    before: whole.slice(0, -']}'.length),
    between: ',',
    after: ']}\n',
    textOf: (from, to) => texts?.(from, to).join() ?? jsonText(part(from, to)).slice(1, -1),
  }
}

function asPretty({ envelope, field, part }: PiecedList): Around {
  const whole = prettyJson({ ...envelope, [field]: [] })
  const begin = `{\n  ${JSON.stringify(field)}: [\n`
  const end = '\n  ]\n}'
  return {
    before: `${whole.slice(0, -']\n}'.length)}\n`,
    between: ',\n',
    after: end,
    textOf: (from, to) => prettyJson({ [field]: part(from, to) }).slice(begin.length, -end.length),
  }
}

/** No field of an envelope is a list of texts: so this line can be nothing else. */
const PLACE = 'PLACE'

function asYaml({ envelope, field, part }: PiecedList): Around {
  const whole = encodeYaml(asJson({ ...envelope, [field]: [PLACE] }))
  const line = `\n- ${PLACE}\n`
  const at = whole.lastIndexOf(line)
  const begin = `${field}:\n`
  return {
    before: whole.slice(0, at + 1),
    between: '',
    after: whole.slice(at + line.length),
    textOf: (from, to) => encodeYaml(asJson({ [field]: part(from, to) })).slice(begin.length),
  }
}
