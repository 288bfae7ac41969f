/** Runs a Go template over plain JSON: what is not there is nil, as with a map of Go. */
import { characterWeight, HEAVIEST } from '../weight.ts'
import { type Expression, parseTemplate, type TemplateNode } from './parse.ts'
import { TemplateError } from './tokens.ts'

/** undefined is nil. */
export type TemplateValue = unknown

export type TemplateFunction = (...args: readonly TemplateValue[]) => TemplateValue
export type TemplateFunctions = Readonly<Record<string, TemplateFunction>>

export interface Template {
  /** @throws TemplateError */
  render(data: TemplateValue, functions?: TemplateFunctions): string
}

/** Characters of what one template makes. */
const LONGEST = 1_000_000
const MOST_STEPS = 1_000_000
/** What its functions are given and make, by weight, all together. */
const MOST_WORK = 100_000_000
/** They look at their arguments one after the other. */
const LAZY: ReadonlySet<string> = new Set(['and', 'or'])

/** `later`: functions of these names are given to render. @throws TemplateError for what is not understood, or names a function that there is not */
export function compileTemplate(
  text: string,
  functions: TemplateFunctions,
  later: ReadonlySet<string> = new Set(),
): Template {
  const isKnown = (name: string) => LAZY.has(name) || Object.hasOwn(functions, name) || later.has(name)
  const nodes = parseTemplate(text.trim(), isKnown)
  const named = (own: TemplateFunctions) => (name: string) => own[name] ?? functions[name]
  return { render: (data, own = {}) => withinStack(() => run(nodes, data, named(own))) }
}

/** Values that are nested too deep, and texts that no machine holds, are the template's failure. */
function withinStack<T>(act: () => T): T {
  try {
    return act()
  } catch (cause) {
    if (cause instanceof RangeError) throw new TemplateError('it makes a value that is too large', { cause })
    throw cause
  }
}

interface Scope {
  readonly parent: Scope | undefined
  readonly variables: Map<string, TemplateValue>
}

function run(
  nodes: readonly TemplateNode[],
  data: TemplateValue,
  functionNamed: (name: string) => TemplateFunction | undefined,
): string {
  let out = ''
  let steps = 0
  let work = 0

  const weighed = (values: readonly TemplateValue[]): void => {
    const weight = values.reduce<number>((sum, value) => sum + characterWeight(value), 0)
    if (weight > HEAVIEST) throw new TemplateError('it makes a value that is too large')
    work += weight
    if (work > MOST_WORK) throw new TemplateError('it does not end within what one rendering may take')
  }

  const scopeWith = (parent: Scope, name: string): Scope => {
    for (let scope: Scope | undefined = parent; scope !== undefined; scope = scope.parent)
      if (scope.variables.has(name)) return scope
    throw new TemplateError(`undefined variable "${name}"`)
  }

  function evaluate(
    expression: Expression,
    dot: TemplateValue,
    scope: Scope,
    last: readonly TemplateValue[] = [],
  ): TemplateValue {
    switch (expression.kind) {
      case 'literal':
        return expression.value ?? undefined
      case 'variable':
        return scopeWith(scope, expression.name).variables.get(expression.name)
      case 'path': {
        const of = expression.of === undefined ? dot : evaluate(expression.of, dot, scope)
        return expression.fields.reduce<TemplateValue>(fieldOf, of)
      }
      case 'pipeline':
        return expression.commands.reduce<readonly TemplateValue[]>(
          (before, command) => [evaluate(command, dot, scope, before)],
          [],
        )[0]
      case 'call': {
        const { name, args } = expression
        if (LAZY.has(name)) return lazily(name, args, dot, scope, last)
        const values = [...args.map((arg) => evaluate(arg, dot, scope)), ...last]
        try {
          weighed(values)
          const made = functionNamed(name)?.(...values)
          weighed([made])
          return made
        } catch (cause) {
          if (cause instanceof TemplateError)
            throw new TemplateError(`error calling ${name}: ${cause.message}`, { cause })
          throw cause
        }
      }
    }
  }

  /** The first that decides, else the last. */
  function lazily(
    name: string,
    args: readonly Expression[],
    dot: TemplateValue,
    scope: Scope,
    last: readonly TemplateValue[],
  ): TemplateValue {
    let value: TemplateValue
    if (args.length + last.length === 0)
      throw new TemplateError(`wrong number of args for ${name}: want at least 1 got 0`)
    for (const arg of args) {
      value = evaluate(arg, dot, scope)
      if (isTrueInTemplate(value) === (name === 'or')) return value
    }
    return last.length === 0 ? value : last[0]
  }

  /** `broken`: a break or continue that is on its way. */
  function walk(list: readonly TemplateNode[], dot: TemplateValue, scope: Scope): 'break' | 'continue' | undefined {
    for (const node of list) {
      if (++steps > MOST_STEPS) throw new TemplateError(`it does not end within ${MOST_STEPS} steps`)
      switch (node.kind) {
        case 'text':
          print(node.text)
          break
        case 'break':
        case 'continue':
          return node.kind
        case 'action': {
          const value = evaluate(node.pipeline, dot, scope)
          if (node.assignment === undefined) print(templateValueText(value))
          else for (const name of node.assignment.names) set(scope, name, value, node.assignment.declares)
          break
        }
        default: {
          const left = branch(node, dot, scope)
          if (left !== undefined) return left
        }
      }
    }
    return undefined
  }

  function set(scope: Scope, name: string, value: TemplateValue, declares: boolean): void {
    const home = declares ? scope : scopeWith(scope, name)
    home.variables.set(name, value)
  }

  function branch(node: Extract<TemplateNode, { kind: 'if' | 'range' | 'with' }>, dot: TemplateValue, scope: Scope) {
    const inner: Scope = { parent: scope, variables: new Map() }
    const value = evaluate(node.pipeline, dot, scope)
    const { assignment } = node
    if (node.kind === 'range') {
      range(node, value, dot, inner)
      return undefined
    }
    for (const name of assignment?.names ?? []) set(inner, name, value, assignment?.declares === true)
    if (isTrueInTemplate(value)) return walk(node.body, node.kind === 'with' ? value : dot, inner)
    return walk(node.otherwise, dot, inner)
  }

  function range(
    { body, otherwise, assignment }: Extract<TemplateNode, { kind: 'if' | 'range' | 'with' }>,
    value: TemplateValue,
    dot: TemplateValue,
    scope: Scope,
  ): void {
    const entries = entriesOf(value)
    if (entries.length === 0) {
      walk(otherwise, dot, scope)
      return
    }
    const [first, second] = assignment?.names ?? []
    for (const [key, item] of entries) {
      const inner: Scope = { parent: scope, variables: new Map() }
      const declares = assignment?.declares === true
      if (second !== undefined) set(inner, second, item, declares)
      if (first !== undefined) set(inner, first, second === undefined ? item : key, declares)
      if (walk(body, item, inner) === 'break') return
    }
  }

  function print(text: string): void {
    out += text
    if (out.length > LONGEST) throw new TemplateError(`it makes more than ${LONGEST} characters`)
  }

  walk(nodes, data, { parent: undefined, variables: new Map([['$', data]]) })
  return out
}

/** Of maps by their keys, in order. */
function entriesOf(value: TemplateValue): readonly (readonly [TemplateValue, TemplateValue])[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return [...value.entries()]
  if (isTemplateMap(value)) return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  if (typeof value === 'number' && Number.isInteger(value) && value <= MOST_STEPS)
    return Array.from({ length: Math.max(0, value) }, (_, i) => [i, i] as const)
  throw new TemplateError(`range can't iterate over ${templateValueText(value)}`)
}

export const isTemplateMap = (value: TemplateValue): value is Readonly<Record<string, TemplateValue>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function fieldOf(of: TemplateValue, name: string): TemplateValue {
  if (of === undefined || of === null) return undefined
  if (!isTemplateMap(of)) throw new TemplateError(`can't evaluate field ${name} in ${templateValueText(of)}`)
  return Object.hasOwn(of, name) ? of[name] : undefined
}

/** As Go has it: nothing that is empty. */
export function isTrueInTemplate(value: TemplateValue): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isTemplateMap(value)) return Object.keys(value).length > 0
  return Boolean(value)
}

/** As Go prints it. */
export function templateValueText(value: TemplateValue): string {
  if (value === undefined || value === null) return '<no value>'
  if (Array.isArray(value)) return `[${value.map(inner).join(' ')}]`
  if (isTemplateMap(value))
    return `map[${Object.keys(value)
      .sort()
      .map((key) => `${key}:${inner(value[key])}`)
      .join(' ')}]`
  return String(value)
}

const inner = (value: TemplateValue): string =>
  value === undefined || value === null ? '<nil>' : templateValueText(value)
