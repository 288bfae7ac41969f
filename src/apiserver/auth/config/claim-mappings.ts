/** The part of an issuer's configuration that makes a user of claims: mappings and rules, their expressions compiled. */
import { parse } from '../../../api/cel/parse.ts'
import { struct } from '../../../api/configuration/shape.ts'
import { duplicate, type FieldError, invalid, required } from '../../../api/errors/field-errors.ts'
import { dns1123Subdomain } from '../../../api/names/name-formats.ts'
import type { ClaimMappings, ClaimRule, Mapping } from '../oidc/claims.ts'
import { type ClaimExpression, type Compiled, overClaims, overUser, readsClaim } from '../oidc/expressions.ts'
import type { DocumentOf } from './document.ts'

const PREFIXED = struct('PrefixedClaimOrExpression', { claim: 'string', prefix: 'string', expression: 'string' })
const EXTRA = struct('ExtraMapping', { key: 'string', valueExpression: 'string' })
/** Fields of a jwt entry besides its issuer. */
export const MAPPING_SHAPES = {
  claimMappings: struct('ClaimMappings', {
    username: PREFIXED,
    groups: PREFIXED,
    uid: struct('ClaimOrExpression', { claim: 'string', expression: 'string' }),
    extra: [EXTRA],
  }),
  claimValidationRules: [
    struct('ClaimValidationRule', {
      claim: 'string',
      requiredValue: 'string',
      expression: 'string',
      message: 'string',
    }),
  ],
  userValidationRules: [struct('UserValidationRule', { expression: 'string', message: 'string' })],
} as const

type MappingsDocument = DocumentOf<{ readonly fields: typeof MAPPING_SHAPES }>
type MappingDocument = DocumentOf<typeof PREFIXED>
type ExtraDocument = DocumentOf<readonly [typeof EXTRA]>
type ClaimRulesDocument = DocumentOf<typeof MAPPING_SHAPES.claimValidationRules>
type UserRulesDocument = DocumentOf<typeof MAPPING_SHAPES.userValidationRules>

/** What stands for an expression that does not compile, until the errors are told. */
const NONE: Mapping = { claim: '', prefix: '' }

export function claimMappingsOf(entry: MappingsDocument, at: string, errors: FieldError[]): ClaimMappings {
  const mappings = entry.claimMappings ?? {}
  const where = `${at}.claimMappings`
  const username = prefixedMapping(mappings.username ?? {}, `${where}.username`, errors)
  if (username === undefined) errors.push(required(`${where}.username`, 'claim or expression is required'))
  const groups = prefixedMapping(mappings.groups ?? {}, `${where}.groups`, errors)
  const uid = mapping(mappings.uid ?? {}, `${where}.uid`, errors)
  const extra = extraOf(mappings.extra ?? [], `${where}.extra`, errors)
  const claimRules = claimRulesOf(entry.claimValidationRules ?? [], `${at}.claimValidationRules`, errors)
  const userRules = userRulesOf(entry.userValidationRules ?? [], `${at}.userValidationRules`, errors)
  checkVerifiedEmail(mappings.username?.expression, `${where}.username.expression`, errors, [
    ...extra.map(({ value }) => value.source),
    ...claimRules.flatMap((rule) => ('expression' in rule ? [rule.expression.source] : [])),
  ])
  return {
    username: username ?? NONE,
    extra,
    claimRules,
    userRules,
    ...(groups === undefined ? {} : { groups }),
    ...(uid === undefined ? {} : { uid }),
  }
}

function mapping(fields: MappingDocument, at: string, errors: FieldError[]): Mapping | undefined {
  const { claim = '', expression = '' } = fields
  if (claim !== '' && expression !== '') {
    errors.push(invalid(at, '', "claim and expression can't both be set"))
    return NONE
  }
  if (expression === '') return claim === '' ? undefined : { claim, prefix: fields.prefix ?? '' }
  const made = compiled(overClaims(expression), `${at}.expression`, expression, errors)
  return made === undefined ? NONE : { expression: made }
}

function prefixedMapping(fields: MappingDocument, at: string, errors: FieldError[]): Mapping | undefined {
  const { claim = '', expression = '', prefix } = fields
  if (expression !== '' && claim === '' && prefix)
    errors.push(invalid(`${at}.prefix`, prefix, 'may not be specified when expression is set'))
  if (claim !== '' && expression === '' && prefix === undefined)
    errors.push(
      required(
        `${at}.prefix`,
        'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
      ),
    )
  return mapping(fields, at, errors)
}

function compiled(made: Compiled, at: string, source: string, errors: FieldError[]): ClaimExpression | undefined {
  if ('expression' in made) return made.expression
  errors.push(invalid(at, source, `compilation failed: ${made.error}`))
  return undefined
}

/** A rule: must give a bool. */
function rule(made: Compiled, at: string, source: string, errors: FieldError[]): ClaimExpression | undefined {
  const expression = compiled(made, at, source, errors)
  if (expression === undefined) return undefined
  const { type } = expression.program
  if (type.kind === 'simple' && type.name === 'bool') return expression
  errors.push(invalid(at, source, 'must evaluate to bool'))
  return undefined
}

function extraOf(list: ExtraDocument, at: string, errors: FieldError[]): ClaimMappings['extra'] {
  const keys = new Set<string>()
  return list.flatMap(({ key = '', valueExpression = '' }, i) => {
    const where = `${at}[${i}]`
    if (key === '') errors.push(required(`${where}.key`))
    else {
      errors.push(...keyProblems(key, `${where}.key`))
      if (keys.has(key)) errors.push(duplicate(`${where}.key`, key))
    }
    keys.add(key)
    if (valueExpression === '') {
      errors.push(required(`${where}.valueExpression`))
      return []
    }
    const value = compiled(overClaims(valueExpression), `${where}.valueExpression`, valueExpression, errors)
    return value === undefined ? [] : [{ key, value }]
  })
}

function keyProblems(key: string, at: string): readonly FieldError[] {
  const slash = key.indexOf('/')
  if (slash <= 0 || slash === key.length - 1)
    return [invalid(at, key, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  const [domain, path] = [key.slice(0, slash), key.slice(slash + 1)]
  const errors = dns1123Subdomain(domain).map((problem) => invalid(at, domain, problem))
  if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path))
    errors.push(invalid(at, path, "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"))
  if (key !== key.toLowerCase()) errors.push(invalid(at, key, 'must be lowercase'))
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(domain))
    errors.push(invalid(at, key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'))
  return errors
}

function claimRulesOf(list: ClaimRulesDocument, at: string, errors: FieldError[]): readonly ClaimRule[] {
  const [claims, expressions] = [new Set<string>(), new Set<string>()]
  return list.flatMap((fields, i): readonly ClaimRule[] => {
    const where = `${at}[${i}]`
    const { claim = '', requiredValue = '', expression = '', message = '' } = fields
    if (claim === '' && expression === '') {
      errors.push(required(where, 'claim or expression is required'))
      return []
    }
    if (claim !== '' && expression !== '') {
      errors.push(invalid(where, claim, "claim and expression can't both be set"))
      return []
    }
    if (claim !== '') {
      if (message !== '') errors.push(invalid(`${where}.message`, message, 'may not be specified when claim is set'))
      if (claims.has(claim)) errors.push(duplicate(`${where}.claim`, claim))
      claims.add(claim)
      return [{ claim, requiredValue }]
    }
    if (requiredValue !== '')
      errors.push(invalid(`${where}.requiredValue`, requiredValue, 'may not be specified when expression is set'))
    if (expressions.has(expression)) errors.push(duplicate(`${where}.expression`, expression))
    expressions.add(expression)
    const made = rule(overClaims(expression), `${where}.expression`, expression, errors)
    return made === undefined ? [] : [{ expression: made, message }]
  })
}

function userRulesOf(list: UserRulesDocument, at: string, errors: FieldError[]): ClaimMappings['userRules'] {
  const seen = new Set<string>()
  return list.flatMap(({ expression = '', message = '' }, i) => {
    const where = `${at}[${i}].expression`
    if (expression === '') {
      errors.push(required(where))
      return []
    }
    if (seen.has(expression)) errors.push(duplicate(where, expression))
    seen.add(expression)
    const made = rule(overUser(expression), where, expression, errors)
    return made === undefined ? [] : [{ expression: made, message }]
  })
}

/** A mapping that takes e-mail addresses for names must ask whether they are verified. */
function checkVerifiedEmail(
  source: string | undefined,
  at: string,
  errors: FieldError[],
  others: readonly string[],
): void {
  if (!source || !reads(source, 'email')) return
  if ([source, ...others].some((expression) => reads(expression, 'email_verified'))) return
  errors.push(
    invalid(
      at,
      source,
      'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
    ),
  )
}

function reads(source: string, claim: string): boolean {
  try {
    return readsClaim(parse(source), claim)
  } catch {
    return false
  }
}
