/** Literals hold values of one type: what does not is told once everything else is right. What is printed may be mixed. */
import type { Issue } from './issues.ts'
import type { Node } from './parse.ts'
import { closed, DYN, printType, type Type } from './types.ts'

export function mixedLiterals(root: Node, types: ReadonlyMap<Node, Type>): readonly Issue[] {
  const issues: Issue[] = []
  walk(root, false)
  return issues

  function walk(node: Node, mayMix: boolean): void {
    switch (node.kind) {
      case 'const':
      case 'ident':
        return
      case 'select':
        walk(node.operand, mayMix)
        return
      case 'list':
        if (!mayMix) alike(node.items, (i) => node.optional.has(i))
        for (const item of node.items) walk(item, mayMix)
        return
      case 'map': {
        const { entries } = node
        if (!mayMix)
          alike(
            entries.map(({ key }) => key),
            () => false,
          )
        if (!mayMix)
          alike(
            entries.map(({ value }) => value),
            (i) => entries[i]?.optional === true,
          )
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
        const prints = node.name === 'format'
        if (node.target !== undefined) walk(node.target, prints)
        for (const arg of node.args) walk(arg, prints)
        return
      }
      case 'macro':
        walk(node.target, mayMix)
        for (const arg of node.args) walk(arg, mayMix)
    }
  }

  /** The first item that is not like the first of all. */
  function alike(items: readonly Node[], optional: (index: number) => boolean): void {
    let wanted: Type | undefined
    for (const [i, item] of items.entries()) {
      const given = types.get(item) ?? DYN
      const type = optional(i) && given.kind === 'optional' ? given.of : given
      wanted ??= type
      if (same(wanted, type)) continue
      issues.push({ at: item.at, message: `expected type '${shown(wanted)}' but found '${shown(type)}'` })
      return
    }
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
