import { parseGoBool } from '../base/go-bool.ts'

/** The value of a boolean option of the CPU or topology manager's policy. @throws Error in a kubelet's words */
export function policyOptionBool(name: string, value: string): boolean {
  const parsed = parseGoBool(value)
  if (parsed !== undefined) return parsed
  throw new Error(
    `bad value for option ${JSON.stringify(name)}: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`,
  )
}
