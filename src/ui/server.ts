/**
 * ui: the page of inspect, and the small server that it comes from: on loopback, for the browser of the user that started it. It asks the
 * cluster with the rights of its kubeconfig and no others, and changes nothing in it but by the one delete that the page asks for.
 * Called by the command. What leaves here is one plain line a text (base/plain-text.ts), and of Secrets metadata alone.
 */
import type { ApiRequest, ApiResponse } from '../api/request.ts'
import { StatusError } from '../api/status.ts'
import { messageOf } from '../base/errors.ts'
import { plainValue } from '../base/plain-text.ts'
import type { Runtime } from '../base/runtime.ts'
import type { HttpsTransport } from '../client/https-transport.ts'
import { startPlainServer } from '../http/plain-server.ts'
import { QuestionError } from '../inspect/question.ts'
import { createGuard, type PathGuard, type Session } from './guard.ts'
import { type PageFile, pageFiles } from './page-files.ts'
import type { SessionInfo } from './protocol.ts'
import { createQuestions, type Questions } from './questions.ts'

export interface UiOptions {
  readonly runtime: Runtime
  readonly transport: Pick<HttpsTransport, 'send' | 'inProcess' | 'host'>
  /** Begins with this one. */
  readonly namespace: string
  readonly version: string
  /** 0 takes a free port. */
  readonly port: number
}

export interface Ui {
  readonly port: number
  /** A link that opens the page in one browser, once. */
  newLink(): string
  stop(): Promise<void>
}

const MOST_BODY_BYTES = 64 * 1024

const NO_SESSION = 'Open this page by the link that skiff ui has shown. It works once: press Enter there for a new one.'

/** No script but the page's own, no request but to this server, no frame around it, no text taken for markup. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const SAFE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': CONTENT_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** @throws the listen error as Node gives it; Error where the page cannot be read */
export async function startUi(options: UiOptions): Promise<Ui> {
  const { runtime } = options
  const files = await pageFiles()
  const questions = createQuestions(options)
  let handler: (request: ApiRequest) => Promise<ApiResponse> = async () => sentence(503, 'the server is starting')
  const server = await startPlainServer(runtime, {
    handler: (request) => handler(request),
    host: '127.0.0.1',
    port: options.port,
    maxBodyBytes: MOST_BODY_BYTES,
  })
  const guard = createGuard(runtime.random, server.port)
  handler = uiHandler(options, guard, files, questions)
  return {
    port: server.port,
    newLink: () => `http://127.0.0.1:${server.port}${guard.folder}?token=${guard.newToken()}`,
    async stop() {
      questions.stop()
      await server.stop()
    },
  }
}

/** Every request's way: is it addressed to this server, does it open a session, has it one, is it the page's own. */
export function uiHandler(
  { transport, namespace, version }: Pick<UiOptions, 'transport' | 'namespace' | 'version'>,
  guard: PathGuard,
  files: ReadonlyMap<string, PageFile>,
  questions: Questions,
) {
  return async (request: ApiRequest): Promise<ApiResponse> => {
    const refused = guard.refuse(request)
    if (refused !== undefined) return sentence(refused.status, refused.message)
    const { method, query } = request
    const path = guard.within(request.path)
    if (path === undefined) return sentence(401, NO_SESSION)
    const token = query.get('token')
    if (method === 'GET' && path === '/' && token !== null) return opened(guard.exchange(token))
    const session = guard.session(request)
    if (session === undefined) return sentence(401, NO_SESSION)
    const file = method === 'GET' ? files.get(path) : undefined
    if (file !== undefined) return answer(200, file.contentType, file.bytes)
    if (!path.startsWith('/api/')) return sentence(404, 'there is no such page')
    try {
      return await asked({ ...request, path }, session)
    } catch (error) {
      return json(codeOf(error), { message: messageOf(error) })
    }
  }

  async function asked(request: ApiRequest, session: Session): Promise<ApiResponse> {
    const { method, path } = request
    if (method === 'GET' && path === '/api/session') {
      const info: SessionInfo = { csrf: session.csrf, cluster: transport.host ?? '', namespace, version }
      return json(200, info)
    }
    // What a browser opens a stream with can carry no header. It reads, and no other page may read its answer.
    if (method === 'GET' && path === '/api/watch') {
      const chunks = await questions.watch(request)
      return { kind: 'stream', status: 200, headers: SAFE_HEADERS, contentType: 'text/event-stream', chunks }
    }
    if (!guard.isOfPage(request, session)) throw new StatusError(403, 'Forbidden', "the request is not the page's own")
    const question = questions.byPath.get(`${method} ${path}`)
    if (question === undefined) throw new StatusError(404, 'NotFound', 'there is no such question')
    return json(200, await question(request))
  }
}

/** The first page that a browser gets has its cookie. It goes on from there by itself: that is no other site's doing, and sends it. */
function opened(cookie: string | undefined): ApiResponse {
  if (cookie === undefined)
    return sentence(401, 'This link was used already, or is none. Press Enter where skiff ui runs for a new one.')
  const body =
    '<!doctype html><meta http-equiv="refresh" content="0;url=./"><link rel="icon" href="page.svg"><title>skiff</title><a href="./">skiff</a>'
  return answer(200, 'text/html; charset=utf-8', Buffer.from(body), { 'set-cookie': cookie })
}

function codeOf(error: unknown): number {
  if (error instanceof StatusError) return error.code >= 400 && error.code < 600 ? error.code : 502
  return error instanceof QuestionError ? 422 : 502
}

function answer(
  status: number,
  contentType: string,
  bytes: Uint8Array,
  more: Record<string, string> = {},
): ApiResponse {
  return { kind: 'bytes', status, contentType, headers: { ...SAFE_HEADERS, ...more }, bytes: [bytes] }
}

const sentence = (status: number, text: string): ApiResponse =>
  answer(status, 'text/plain; charset=utf-8', Buffer.from(`${text}\n`))

const json = (status: number, value: unknown): ApiResponse =>
  answer(status, 'application/json', Buffer.from(JSON.stringify(plainValue(value))))
