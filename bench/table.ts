/** Figures as a table people read. */
import type { Figure } from './figure.ts'

export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    show(figure.value, figure.unit),
    figure.bare === undefined ? '' : show(figure.bare, figure.unit),
    figure.cpuMicros === undefined ? '' : `${figure.cpuMicros.toFixed(figure.cpuMicros < 100 ? 1 : 0)} µs`,
    figure.subject,
    figure.detail ?? '',
  ])
  const head = ['', 'measured', 'bare server', 'CPU each', 'of', '']
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] as number) : cell.padEnd(widths[column] as number))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (isNumber(column) ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

/** One figure on one line, while the others are still measured. */
export const shown = ({ value, unit, bare }: Pick<Figure, 'value' | 'unit' | 'bare'>): string =>
  show(value, unit) + (bare === undefined ? '' : `, bare ${show(bare, unit)}`)

const isNumber = (column: number) => column >= 1 && column <= 3

function show(value: number, unit: Figure['unit']): string {
  if (unit === '/s') return `${Math.round(value).toLocaleString('en-US')}/s`
  if (unit === '%') return `${value.toFixed(1)}%`
  if (unit === 'MiB') return `${Math.round(value)} MiB`
  if (unit === 'ms') return `${value.toFixed(value < 10 ? 2 : 1)} ms`
  return `${value.toFixed(3)} s`
}
