/** A float64 as Go prints it (`%v`, and strconv's shortest form): `0.25`, `1e+06`, `1e-07`, `+Inf`. */
export function goFloat(value: number): string {
  const size = Math.abs(value)
  if (value === 0 || (size >= 1e-4 && size < 1e6)) return String(value)
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  const [digits, exponent = ''] = value.toExponential().split('e')
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`
}
