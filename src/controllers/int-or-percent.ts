/** Numbers that may be percentages (API type IntOrString). */

/** A number, or a percentage of `total`; 0 for none. */
export function scaled(
  value: number | string | undefined,
  total: number,
  round: (exact: number) => number = Math.ceil,
): number {
  if (value === undefined) return 0
  if (typeof value === 'number') return value
  return round((Number.parseInt(value, 10) * total) / 100)
}
