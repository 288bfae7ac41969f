/**
 * What the page asks its server. Every question but the stream carries the session's token. Paths are relative: the page stands in a
 * folder of a random name.
 */
import type {
  Deleted,
  DeleteQuestion,
  Endings,
  ObjectDetails,
  ObjectName,
  Plan,
  Problem,
  Replay,
  SceneChange,
  SessionInfo,
  SurveyShown,
  Why,
} from '../protocol.ts'

let csrf = ''

async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response
  try {
    response = await fetch(path, { ...init, headers: { ...init.headers, 'x-skiff-csrf': csrf } })
  } catch {
    throw new Error('skiff ui does not answer: it may have ended')
  }
  if (!response.headers.get('content-type')?.startsWith('application/json'))
    throw new Error((await response.text()).trim())
  const value: unknown = await response.json()
  if (!response.ok) throw new Error((value as Problem).message)
  return value as T
}

const post = <T>(path: string, body: object, signal?: AbortSignal) =>
  ask<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })

const queryOf = (parts: Readonly<Record<string, string>>) => new URLSearchParams(parts).toString()
const named = ({ group, version, resource, namespace, name }: ObjectName) =>
  queryOf({ group, version, resource, namespace, name })

export async function openSession(): Promise<SessionInfo> {
  const session = await ask<SessionInfo>('api/session')
  csrf = session.csrf
  return session
}

export const askNamespaces = () => ask<readonly string[]>('api/namespaces')
export const askWhy = (object: ObjectName) => ask<Why>(`api/why?${named(object)}`)
export const askSurvey = () => ask<SurveyShown>('api/why')
export const askDetails = (object: ObjectName) => ask<ObjectDetails>(`api/object?${named(object)}`)
export const askPlan = (question: DeleteQuestion) => post<Plan>('api/plan', question)
export const askDelete = (question: DeleteQuestion) => post<Deleted>('api/delete', question)
export const askEndings = (scope: string) => ask<Endings>(`api/timeline?${queryOf({ scope })}`)
export const askReplay = (scope: string, object: ObjectName, uid: string) =>
  ask<Replay>(`api/timeline?${queryOf({ scope, uid })}&${named(object)}`)

export interface Feed {
  change(change: SceneChange): void
  /** Whether changes come. */
  live(isLive: boolean): void
}

/** Returns its end. It begins anew by itself where it breaks. */
export function follow(namespace: string, { change, live }: Feed): () => void {
  const source = new EventSource(`api/watch?${queryOf({ namespace })}`)
  source.onmessage = ({ data }: MessageEvent<string>) => change(JSON.parse(data))
  source.onopen = () => live(true)
  source.onerror = () => live(false)
  return () => source.close()
}
