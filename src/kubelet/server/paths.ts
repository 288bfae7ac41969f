/**
 * Which paths a kubelet's server has, and by which methods. What it does not have is said before a client's rights are looked at; that a method
 * is not served, or a path only begins like one, is said to those alone that have a right to it.
 */
import { posix } from 'node:path'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { CHECKS } from './own-health.ts'
import { Refused, textAnswer } from './refused.ts'

export type Page =
  | 'pods'
  | 'runningpods'
  | 'containerLogs'
  | 'exec'
  | 'attach'
  | 'portForward'
  | 'run'
  | 'checkpoint'
  | 'stats/summary'
  | 'logs'
  | 'debug/pprof'

interface Route {
  readonly page: Page
  /** Parts in braces are parameters, `...` is whatever follows. */
  readonly path: string
  readonly methods: readonly string[]
}

const READ = ['GET']
const SESSION = ['GET', 'POST']

/** By the path that they begin with; one that ends with a slash is led to where that is missing. */
const SERVICES: Readonly<Record<string, readonly Route[]>> = {
  '/pods': [{ page: 'pods', path: '', methods: READ }],
  '/runningpods/': [{ page: 'runningpods', path: '', methods: READ }],
  '/stats/': [{ page: 'stats/summary', path: 'summary', methods: SESSION }],
  '/logs/': [{ page: 'logs', path: '...', methods: READ }],
  '/checkpoint/': [{ page: 'checkpoint', path: '{namespace}/{pod}/{container}', methods: ['POST'] }],
  '/debug/pprof/': [{ page: 'debug/pprof', path: '{profile}', methods: READ }],
  '/containerLogs': [{ page: 'containerLogs', path: '{namespace}/{pod}/{container}', methods: READ }],
  '/run': ofContainers('run', ['POST']),
  '/exec': ofContainers('exec', SESSION),
  '/attach': ofContainers('attach', SESSION),
  '/portForward': [
    { page: 'portForward', path: '{namespace}/{pod}', methods: SESSION },
    { page: 'portForward', path: '{namespace}/{pod}/{uid}', methods: SESSION },
  ],
}

/** What is for people, and can be turned off. */
const DEBUGGING = ['attach', 'containerLogs', 'debug/pprof', 'exec', 'logs', 'portForward', 'run', 'runningpods'].map(
  (name) => `/${name}/`,
)
/** Paths that are served by whatever method. */
const PAGES = new Set([
  '/healthz',
  '/metrics',
  '/metrics/cadvisor',
  '/metrics/probes',
  '/metrics/resource',
  '/metrics/slis',
])
const DEBUGGING_PAGES = new Set(['/configz', '/debug/flags/v', '/flagz', '/statusz'])

function ofContainers(page: Page, methods: readonly string[]): readonly Route[] {
  return [
    { page, path: '{namespace}/{pod}/{container}', methods },
    { page, path: '{namespace}/{pod}/{uid}/{container}', methods },
  ]
}

const begins = (path: string, service: string): boolean =>
  path === service || path.startsWith(service.endsWith('/') ? service : `${service}/`)

const servicesOf = (debugging: boolean): readonly string[] =>
  debugging
    ? Object.keys(SERVICES)
    : [...Object.keys(SERVICES).filter((name) => ['/pods', '/stats/'].includes(name)), ...DEBUGGING]

/** What is answered to all: a path that is led to another, or that there is not. */
export function answerToAll(
  { path, query }: Pick<ApiRequest, 'path' | 'query'>,
  debugging: boolean,
): ApiResponse | undefined {
  const clean = posix.normalize(path)
  if (clean !== path && path.startsWith('/')) return redirect(clean, query)
  if (PAGES.has(path) || (debugging && DEBUGGING_PAGES.has(path))) return undefined
  if (path.startsWith('/healthz/') && CHECKS.has(path.slice('/healthz/'.length))) return undefined
  const services = servicesOf(debugging)
  if (services.some((service) => begins(path, service))) return undefined
  if (services.includes(`${path}/`)) return redirect(`${path}/`, query)
  return noSuchPage()
}

export const noSuchPage = (): ApiResponse => textAnswer(404, '404 page not found\n', undefined, NOSNIFF)

export const NOSNIFF = { 'x-content-type-options': 'nosniff' }

function redirect(path: string, query: URLSearchParams): ApiResponse {
  const location = query.size === 0 ? path : `${path}?${query}`
  const link = location.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
  return textAnswer(307, `<a href="${link}">Temporary Redirect</a>.\n\n`, 'text/html; charset=utf-8', { location })
}

export interface Found {
  readonly page: Page
  readonly namespace: string
  readonly pod: string
  readonly uid: string | undefined
  readonly container: string
  readonly profile: string
  /** What follows, as it was sent. */
  readonly rest: string
}

/** Of a path that is answered by its method. undefined: it is none of these. @throws Refused */
export function pageOf({ method, path }: Pick<ApiRequest, 'method' | 'path'>, debugging: boolean): Found | undefined {
  if (!debugging && DEBUGGING.some((service) => begins(path, service)))
    throw new Refused(405, 'Debug endpoints are disabled.\n', NOSNIFF)
  const service = Object.keys(SERVICES).find((name) => begins(path, name))
  if (service === undefined) return undefined
  const rest = path.slice(service.length).replace(/^\//, '')
  const fitting = (SERVICES[service] ?? []).flatMap((route) => {
    const parameters = parametersOf(route.path, rest)
    return parameters === undefined ? [] : [{ route, parameters }]
  })
  const found = fitting.find(({ route }) => route.methods.includes(method))
  if (found !== undefined) return { ...found.parameters, page: found.route.page, rest }
  if (fitting.length === 0) throw new Refused(404, '404: Page Not Found')
  const allow = fitting.flatMap(({ route }) => route.methods).join(', ')
  throw new Refused(405, '405: Method Not Allowed', { allow })
}

function parametersOf(template: string, rest: string): Omit<Found, 'page' | 'rest'> | undefined {
  const nothing = { namespace: '', pod: '', uid: undefined, container: '', profile: '' }
  if (template === '...') return nothing
  const [parts, wanted] = [rest.replace(/\/$/, '').split('/'), template.split('/')]
  if (parts.length !== wanted.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, want] of wanted.entries()) {
    const part = decoded(parts[index] ?? '')
    const name = /^\{(.+)\}$/.exec(want)?.[1]
    if (name === undefined ? part !== want : part === '') return undefined
    if (name !== undefined) parameters[name] = part
  }
  return { ...nothing, ...parameters }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Refused(400, 'the path cannot be read\n')
  }
}
