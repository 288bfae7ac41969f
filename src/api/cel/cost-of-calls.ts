/**
 * What a call costs while an expression is evaluated: one point, more where work grows with the size of what is worked on.
 * What it may cost at most is estimated apart (estimate-cost-from-schema-bounds.ts): that knows sizes by other rules.
 */

/** No number is bigger: as with Kubernetes' 64 bits, what overflows stays here. */
export const MOST = 2 ** 64

export const capped = (value: number) => (Number.isNaN(value) || value > MOST ? MOST : value)
/** The part of a size that looking at it costs. */
export const shareOf = (size: number, factor: number) => capped(Math.ceil(size * factor))
const atLeastOne = (cost: number) => Math.max(1, cost)

export const STRING_FACTOR = 0.1
export const REGEX_FACTOR = 0.25
export const LIST_COST = 10
export const MAP_COST = 30
export const STRUCT_COST = 40

/** Beyond its arguments, by their sizes (target first). */
export function callCost(name: string, [a = 1, b = 1]: readonly number[]): number {
  switch (name) {
    case '_==_':
    case '_!=_':
    case '_<_':
    case '_<=_':
    case '_>_':
    case '_>=_':
      return atLeastOne(shareOf(Math.min(a, b), STRING_FACTOR))
    case '_+_':
      return atLeastOne(shareOf(a + b, STRING_FACTOR))
    case 'startsWith':
    case 'endsWith':
      return shareOf(b, STRING_FACTOR)
    case 'contains':
      return capped(shareOf(a, STRING_FACTOR) * shareOf(b, STRING_FACTOR))
    case 'matches':
    case 'find':
    case 'findAll':
      return capped(shareOf(a + 1, STRING_FACTOR) * shareOf(b, REGEX_FACTOR))
    case '@in':
      return atLeastOne(b)
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
    case 'quote':
    case 'replace':
    case 'split':
    case 'string':
    case 'bytes':
    case 'url':
    case 'quantity':
    case 'isQuantity':
    case 'isURL':
    case 'ip':
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'semver':
    case 'isSemver':
      return atLeastOne(shareOf(a, STRING_FACTOR))
    case 'join':
      return atLeastOne(shareOf(capped(a * (1 + b)), STRING_FACTOR))
    case 'distinct':
      return atLeastOne(capped(a * a))
    case 'slice':
    case 'flatten':
    case 'reverse':
    case 'sort':
    case 'optional.unwrap':
    case 'unwrapOpt':
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return atLeastOne(a)
    case 'validate':
      return capped(shareOf(b, STRING_FACTOR) * 32)
    case 'sets.contains':
    case 'sets.intersects':
      return capped(a * b + 1)
    case 'sets.equivalent':
      return capped(a * b * 2 + 1)
    default:
      return 1
  }
}
