/** How alike two answers are, in the four steps that agreement.json counts, in their headers and in their times. */
import type { Answer } from './recording.ts'

export interface Likeness {
  readonly code: boolean
  readonly reason: boolean
  readonly body: boolean
  readonly managedFields: boolean
  /** The Warning headers, the content type, and what else the case asks for. */
  readonly headers: boolean
  /** The same relations between times are broken in both: none, but for a few. */
  readonly times: boolean
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

/**
 * Entries of managedFields are in the order of their seconds, and those of one second in the order of their managers: whether
 * two writes fell into one second is chance. That their order is that of their own times is judged before (times.ts).
 */
function managersInOrder(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(managersInOrder)
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === 'managedFields' && Array.isArray(inner) ? entriesInOrder(inner) : managersInOrder(inner),
    ]),
  )
}

const ownerKey = /\\"uid\\":\\"[0-9a-f-]{36}\\"/g

/** Owners are named by their uids in the keys of fields. */
const entriesInOrder = (entries: readonly unknown[]): readonly unknown[] =>
  entries
    .map((entry) => JSON.stringify(entry).replace(ownerKey, '\\"uid\\":\\"<uid>\\"'))
    .sort()
    .map((entry) => JSON.parse(entry))

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

type Bodies = readonly [{ readonly reason?: unknown } | null, { readonly reason?: unknown } | null]

export function compareAnswers(want: Answer, got: Answer, options: { anyOrder?: boolean } = {}): Likeness {
  const inOrder = options.anyOrder ? unordered : rulesInOrder
  const [wantBody, gotBody] = [managersInOrder(inOrder(want.body)), managersInOrder(inOrder(got.body))] as Bodies
  const code = want.code === got.code
  const reason = code && wantBody?.reason === gotBody?.reason
  const bareWant = withoutManagedFields(wantBody)
  const bareGot = withoutManagedFields(gotBody)
  const body = reason && same(bareWant, bareGot)
  const managedFields = body && same(wantBody, gotBody)
  const headers = same(headersOf(want), headersOf(got))
  const times = same(want.broken ?? [], got.broken ?? [])
  const difference = body
    ? (firstDifference(wantBody, gotBody) ??
      firstDifference(headersOf(want), headersOf(got)) ??
      firstDifference(want.broken ?? [], got.broken ?? [], '.times'))
    : firstDifference(bareWant, bareGot)
  return { code, reason, body, managedFields, headers, times, ...(difference ? { difference } : {}) }
}
