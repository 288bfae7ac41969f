/** Labels of nodes that go by two names: what reads the older one finds what the newer one says. */
const olderNames: readonly (readonly [newer: string, older: string])[] = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
]

/** Those to be set; undefined for none. An older one alone stays as it is. */
export function olderLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  const wanted = olderNames.flatMap(([newer, older]) => {
    const value = labels[newer]
    return value === undefined || labels[older] === value ? [] : [[older, value] as const]
  })
  return wanted.length === 0 ? undefined : Object.fromEntries(wanted)
}
