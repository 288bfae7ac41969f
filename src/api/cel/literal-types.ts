/** Literals hold values of one type: what does not is told once everything else is right. What is printed may be mixed. */
import type { Issue } from './issues.ts'
import type { SyntaxNode } from './parse.ts'
import { closed, DYN, printType, type Type } from './types.ts'

export function mixedLiterals(root: SyntaxNode, types: ReadonlyMap<SyntaxNode, Type>): readonly Issue[] {
  const issues: Issue[] = []
  walk(root, false)
  return issues

  function walk(node: SyntaxNode, mayMix: boolean): void {
    switch (node.kind) {
      case 'const':
      case 'ident':
        return
      case 'select':
        walk(node.operand, mayMix)
        return
      case 'list':
        // Of a list the first one is told, of a map all.
        if (!mayMix) issues.push(...unlike(node.items, (i) => node.optional.has(i)).slice(0, 1))
        for (const item of node.items) walk(item, mayMix)
        return
      case 'map': {
        const { entries } = node
        if (!mayMix) {
          const [keys, values] = [entries.map(({ key }) => key), entries.map(({ value }) => value)]
          const wrong = [...unlike(keys, () => false), ...unlike(values, (i) => entries[i]?.optional === true)]
          issues.push(...wrong.sort((a, b) => a.at - b.at))
        }
        for (const { key, value } of entries) {
          walk(key, mayMix)
          walk(value, mayMix)
        }
        return
      }
      case 'struct':
        for (const { value } of node.fields) walk(value, mayMix)
        return
      case 'call': {
        const prints = mayMix || node.name === 'format'
        if (node.target !== undefined) walk(node.target, prints)
        for (const arg of node.args) walk(arg, prints)
        return
      }
      case 'macro':
        walk(node.target, mayMix)
        for (const arg of node.args) walk(arg, mayMix)
    }
  }

  /** The items that are not like the first of all. */
  function unlike(items: readonly SyntaxNode[], optional: (index: number) => boolean): readonly Issue[] {
    let wanted: Type | undefined
    return items.flatMap((item, i) => {
      const given = types.get(item) ?? DYN
      const type = optional(i) && given.kind === 'optional' ? given.of : given
      wanted ??= type
      if (same(wanted, type)) return []
      return [{ at: item.at, message: `expected type '${shown(wanted)}' but found '${shown(type)}'` }]
    })
  }
}

const shown = (type: Type) => printType(closed(type))

/** Equal but for what empty literals leave open. */
function same(a: Type, b: Type): boolean {
  if (a.kind === 'param' || b.kind === 'param') return true
  if (a.kind === 'list' && b.kind === 'list') return same(a.items, b.items)
  if (a.kind === 'map' && b.kind === 'map') return same(a.key, b.key) && same(a.value, b.value)
  if (a.kind === 'optional' && b.kind === 'optional') return same(a.of, b.of)
  return printType(a) === printType(b)
}
