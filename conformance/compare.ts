/** How alike two answers are, in the four steps that agreement.json counts, and in their warnings. */
import type { Answer } from './recording.ts'

export interface Likeness {
  readonly code: boolean
  readonly reason: boolean
  readonly body: boolean
  readonly managedFields: boolean
  /** The Warning headers, the content type, and what else the case asks for. */
  readonly headers: boolean
  /** Where the bodies first differ: outside managedFields when they differ there. */
  readonly difference?: { readonly at: string; readonly want: unknown; readonly got: unknown }
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

function withoutManagedFields(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(withoutManagedFields)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'managedFields')
      .map(([key, inner]) => [key, withoutManagedFields(inner)]),
  )
}

/** Errors about custom resources come in no fixed order: compare their parts as sets. */
// biome-ignore lint/suspicious/noExplicitAny: any body
function unordered(body: any): any {
  if (body?.kind !== 'Status') return body
  const parts = (message: unknown) =>
    typeof message === 'string'
      ? message
          .split(/[,\n[\]]+ */)
          .sort()
          .join(' | ')
      : message
  const details = body.details && {
    ...body.details,
    ...(body.details.causes
      ? { causes: [...body.details.causes].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) }
      : {}),
  }
  return { ...body, message: parts(body.message), details }
}

function firstDifference(want: unknown, got: unknown, at = ''): Likeness['difference'] {
  if (same(want, got)) return undefined
  if (
    want &&
    got &&
    typeof want === 'object' &&
    typeof got === 'object' &&
    Array.isArray(want) === Array.isArray(got)
  ) {
    for (const key of new Set([...Object.keys(want), ...Object.keys(got)])) {
      const found = firstDifference(
        (want as Record<string, unknown>)[key],
        (got as Record<string, unknown>)[key],
        `${at}.${key}`,
      )
      if (found) return found
    }
  }
  return { at, want, got }
}

const headersOf = ({ type, warning, headers }: Answer) => ({ type, warning, ...headers })

/** A SelfSubjectRulesReview lists rules as a real server's caches give them: in no fixed order. */
// biome-ignore lint/suspicious/noExplicitAny: any body
function rulesInOrder(body: any): any {
  if (body?.kind !== 'SelfSubjectRulesReview' || !body.status) return body
  const sorted = (rules: unknown) =>
    Array.isArray(rules) ? [...rules].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : rules
  const { resourceRules, nonResourceRules } = body.status
  const status = { ...body.status, resourceRules: sorted(resourceRules), nonResourceRules: sorted(nonResourceRules) }
  return { ...body, status }
}

export function compareAnswers(want: Answer, got: Answer, options: { anyOrder?: boolean } = {}): Likeness {
  const inOrder = options.anyOrder ? unordered : rulesInOrder
  const [wantBody, gotBody] = [inOrder(want.body), inOrder(got.body)]
  const code = want.code === got.code
  const reason = code && wantBody?.reason === gotBody?.reason
  const bareWant = withoutManagedFields(wantBody)
  const bareGot = withoutManagedFields(gotBody)
  const body = reason && same(bareWant, bareGot)
  const managedFields = body && same(wantBody, gotBody)
  const headers = same(headersOf(want), headersOf(got))
  const difference = body
    ? (firstDifference(wantBody, gotBody) ?? firstDifference(headersOf(want), headersOf(got)))
    : firstDifference(bareWant, bareGot)
  return { code, reason, body, managedFields, headers, ...(difference ? { difference } : {}) }
}
