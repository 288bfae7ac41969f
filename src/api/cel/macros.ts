/** Calls that are not calls: has(), and the macros over lists, maps and optionals. */
import { CelSyntaxError } from './issues.ts'
import type { MacroName, SyntaxNode } from './parse.ts'

const MACROS = new Set<string>([
  'all',
  'exists',
  'exists_one',
  'existsOne',
  'map',
  'filter',
  'transformList',
  'transformMap',
  'transformMapEntry',
  'sortBy',
  'optMap',
  'optFlatMap',
])

const WRONG_NAMES: Readonly<Record<string, string>> = {
  map: 'argument is not an identifier',
  filter: 'argument is not an identifier',
  sortBy: 'argument is not an identifier',
  optMap: 'optMap() variable name must be a simple identifier',
  optFlatMap: 'optFlatMap() variable name must be a simple identifier',
}

export function hasMacro(args: readonly SyntaxNode[], at: number): SyntaxNode {
  const [operand] = args
  if (args.length === 1 && operand?.kind === 'select' && !operand.test) return { ...operand, test: true, at }
  throw new CelSyntaxError(operand?.at ?? at, 'invalid argument to has() macro')
}

export function methodCall(target: SyntaxNode, name: string, args: readonly SyntaxNode[], at: number): SyntaxNode {
  if (!MACROS.has(name) || !isMacroCall(name, args.length)) return { kind: 'call', name, target, args, at }
  const variables = name.startsWith('transform') || (args.length === 3 && name !== 'map') ? 2 : 1
  const vars: string[] = []
  for (const variable of args.slice(0, variables)) {
    if (variable.kind !== 'ident')
      throw new CelSyntaxError(variable.at, WRONG_NAMES[name] ?? 'argument must be a simple name')
    if (vars.includes(variable.name)) throw new CelSyntaxError(variable.at, `duplicate variable name: ${variable.name}`)
    vars.push(variable.name)
  }
  return { kind: 'macro', name: name as MacroName, target, vars, args: args.slice(variables), at }
}

function isMacroCall(name: string, count: number): boolean {
  switch (name) {
    case 'all':
    case 'exists':
    case 'exists_one':
    case 'existsOne':
    case 'map':
      return count === 2 || count === 3
    case 'filter':
    case 'sortBy':
    case 'optMap':
    case 'optFlatMap':
      return count === 2
    default:
      return count === 3 || count === 4
  }
}
