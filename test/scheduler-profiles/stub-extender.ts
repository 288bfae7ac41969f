/** A server that answers as a scenario says, and remembers what it was asked. */
import type { Fields, Json } from '../../src/api/object.ts'

/** By `name/verb`: the answer's body, or its status. */
export type StubRules = Readonly<Record<string, (args: Fields) => Json | number | string>>

/** Where extenders are in a scenario's file. */
export const STUB = 'http://extender.example'

export function createStub(rules: StubRules) {
  let asked: Json[] = []
  return {
    /** `path`: `/name/verb`. */
    answer(path: string, body: string): { readonly status: number; readonly text: string } {
      const args = JSON.parse(body) as Fields
      asked.push({ [path.slice(1)]: told(args) })
      const answer = rules[path.slice(1)]?.(args) ?? 404
      if (typeof answer === 'number') return { status: answer, text: '{}' }
      return { status: 200, text: typeof answer === 'string' ? answer : JSON.stringify(answer) }
    },
    /** Since it was last asked for. */
    taken(): readonly Json[] {
      const all = asked
      asked = []
      return inOrder(all)
    },
  }
}

/** Those of verb `p` (prioritize) are asked at once, in no order. */
function inOrder(asked: readonly Json[]): readonly Json[] {
  const name = (one: Json | undefined) => Object.keys((one ?? {}) as Fields)[0] ?? ''
  const all = [...asked]
  for (let i = 1; i < all.length; i++)
    for (let j = i; j > 0 && [all[j - 1], all[j]].every((one) => name(one).endsWith('/p')); j--)
      if (name(all[j]) < name(all[j - 1])) [all[j - 1], all[j]] = [all[j] as Json, all[j - 1] as Json]
  return all
}

/** Objects by their names, nodes in no order: where a search begins is told elsewhere. */
function told(value: unknown): Json {
  if (Array.isArray(value)) {
    const all = value.map(told)
    return all.every((one) => typeof one === 'string') ? (all as string[]).sort() : all
  }
  if (typeof value !== 'object' || value === null) return value as Json
  const fields = value as Fields
  if (fields['metadata']?.name !== undefined) return fields['metadata'].name
  if (Array.isArray(fields['items'])) return { ...fields, items: told(fields['items']) }
  return Object.fromEntries(Object.entries(fields).map(([key, one]) => [key, told(one)]))
}
