/** An expression from text to something that runs: parsed, checked, estimated. */
import { type CheckedExpression, typeCheck } from './check.ts'
import { estimateCost } from './estimate-cost-from-schema-bounds.ts'
import { type Budget, evaluateExpression, type Variables } from './eval-within-cost-limit.ts'
import type { Functions } from './functions.ts'
import { CelSyntaxError, printIssues } from './issues.ts'
import { allFunctions } from './libraries.ts'
import { parse, type SyntaxNode } from './parse.ts'
import type { Type } from './types.ts'
import type { Value } from './values.ts'

export interface Program {
  readonly type: Type
  /** The most that one evaluation can cost, by the sizes its types allow. */
  readonly maxCost: number
  /** Variables that the expression reads. */
  readonly reads: ReadonlySet<string>
  /** @throws CelError, BudgetExceeded */
  run(variables: Variables, budget: Budget): Value
}

let functions: Functions | undefined

/** @returns the program, or what is wrong with the expression in cel-go's words */
export function compileExpression(
  source: string,
  variables: ReadonlyMap<string, Type>,
): { readonly program: Program } | { readonly error: string } {
  let node: SyntaxNode
  try {
    node = parse(source)
  } catch (error) {
    if (error instanceof CelSyntaxError) return { error: printIssues(source, [...error.before, error.issue]) }
    throw error
  }
  functions ??= allFunctions()
  const checked: CheckedExpression = typeCheck(node, { variables, functions })
  if (checked.issues.length > 0) return { error: printIssues(source, checked.issues) }
  return {
    program: {
      type: checked.type,
      maxCost: estimateCost(checked, variables.get('self')),
      reads: checked.reads,
      run: (values, budget) => evaluateExpression(checked, values, budget),
    },
  }
}
