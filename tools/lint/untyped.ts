/**
 * Accesses to fields of which the compiler knows nothing, found by the compiler's own types: `object['spec']` where the result is any or
 * unknown, `.replicas` of an any, and the same written as `const { spec } = object`. A name that is computed (`object[field]`) is not counted:
 * code that goes over whatever fields there are is about no kind. Nor are JsonObject's fields, which must be checked before they are used.
 */
import { resolve } from 'node:path'
import type { BindingElement, Node, SourceFile } from 'typescript/unstable/ast'
import {
  isBindingElement,
  isElementAccessExpression,
  isIdentifier,
  isObjectBindingPattern,
  isPropertyAccessExpression,
  isStringLiteral,
} from 'typescript/unstable/ast/is'
import { API, type Checker, TypeFlags } from 'typescript/unstable/sync'

/**
 * For each file the lines, counted from one, of its untyped accesses: a line once for each. The project is a tsconfig.json with
 * nothing but what the files need, since all that it contains is parsed.
 */
export function untypedAccesses(project: string, files: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const compiler = new API()
  try {
    using snapshot = compiler.updateSnapshot({ openProjects: [project] })
    const opened = snapshot.getProject(project)
    if (opened === undefined) throw new Error(`${project} is not a project`)
    return new Map(
      files.map((file) => {
        const source = opened.program.getSourceFile(resolve(file))
        if (source === undefined) throw new Error(`${file} does not belong to ${project}`)
        return [file, untypedIn(source, opened.checker)]
      }),
    )
  } finally {
    compiler.close()
  }
}

function untypedIn(source: SourceFile, checker: Checker): readonly number[] {
  /** Each access beside the expression whose type tells: of a dot what it stands behind, else the value itself. */
  const accesses: Node[] = []
  const telling: Node[] = []
  const visit = (node: Node): void => {
    const tells = tellingPartOf(node)
    if (tells !== undefined) {
      accesses.push(node)
      telling.push(tells)
    }
    node.forEachChild(visit)
  }
  visit(source)
  if (telling.length === 0) return []
  const types = checker.getTypeAtLocation(telling)
  return accesses.flatMap((access, at) => {
    const flags = types[at]?.flags ?? 0
    if ((flags & TypeFlags.AnyOrUnknown) === 0 || isDeclaredUnknown(access, flags, checker)) return []
    // The name's place, not the beginning of a chain of many lines.
    return [source.getLineAndCharacterOfPosition(nameOf(access).getStart(source)).line + 1]
  })
}

function tellingPartOf(node: Node): Node | undefined {
  if (isPropertyAccessExpression(node)) return node.expression
  if (isElementAccessExpression(node)) return isStringLiteral(node.argumentExpression) ? node : undefined
  return isBindingElement(node) && isTakenOut(node) ? node : undefined
}

/** Not the rest of an object, and not what is taken out of it only to be left away: `const { status: _, ...rest }`. */
function isTakenOut({ dotDotDotToken, name, parent }: BindingElement): boolean {
  const isUnused = name !== undefined && isIdentifier(name) && name.text.startsWith('_')
  return dotDotDotToken === undefined && !isUnused && isObjectBindingPattern(parent)
}

/** `const { cause } = failure`, where a type says that the cause is unknown. */
function isDeclaredUnknown(access: Node, flags: TypeFlags, checker: Checker): boolean {
  if (!isBindingElement(access) || (flags & TypeFlags.Any) !== 0) return false
  const name = access.propertyName ?? access.name
  const of = checker.getTypeAtLocation(access.parent)
  if (name === undefined || of === undefined || !isIdentifier(name)) return false
  return checker.getPropertyOfType(of, name.text) !== undefined
}

function nameOf(access: Node): Node {
  if (isPropertyAccessExpression(access)) return access.name
  return isElementAccessExpression(access) ? access.argumentExpression : access
}

/**
 * Where such accesses are right, since the code is about objects of any kind, or about text that came from outside and is checked field by field.
 * The ratchet counts them too: they may not rise.
 */
const OF_NO_KIND: Readonly<Record<string, string>> = {
  'src/api/validation':
    'rules are called by tables, with what a client sent: any field may be missing or of another form',
  'src/api/defaults': 'defaults are given to what a client sent, before anything about it is checked',
  'src/api/cel': 'values of expressions, whose types are CEL’s',
  'src/components/scheduler-configuration': 'a file of the user’s, checked field by field',
}

/** Why untyped accesses are right in a folder; undefined where they are not. */
export const reasonOf = (folder: string): string | undefined => OF_NO_KIND[folder]
