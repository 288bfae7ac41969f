/** The part of docs/envtest.md that tells what differs from a real kube-apiserver, made from agreement.json and differing.json. */
import type { SetAgreement } from './agreement.ts'
import { excuses } from './agreement.ts'

const BEGIN = '<!-- made by npm run conformance from its recordings -->'
const END = '<!-- end of what is made -->'

/** docs/envtest.md with that part as it is now. @throws Error when the page has no place for it */
export function withDifferences(page: string, agreement: Readonly<Record<string, SetAgreement>>): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`docs/envtest.md has no lines ${BEGIN} and ${END}`)
  return `${page.slice(0, begin)}${BEGIN}\n${differences(agreement)}\n${page.slice(end)}`
}

function differences(agreement: Readonly<Record<string, SetAgreement>>): string {
  const sets = Object.values(agreement).map(({ all }) => all)
  const answers = sets.reduce((sum, set) => sum + set.answers, 0)
  const all = Object.values(excuses).flat()
  const steps = (list: typeof all) => list.reduce((sum, excuse) => sum + excuse.steps.length, 0)
  const byReason = [...Map.groupBy(all, ({ why }) => why)].toSorted(([, a], [, b]) => steps(b) - steps(a))
  return `Of ${answers} answers of a Kubernetes v1.37.1 that were recorded and asked again of skiff, ${steps(all)} differ, in one of these ways
([conformance.md](conformance.md)):

${byReason.map(([why, list]) => `- ${why} (${steps(list)})`).join('\n')}`
}
