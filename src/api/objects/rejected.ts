/** What Kubernetes' clients make of an answer that is an error and no Status. */
const WORDS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  403: 'unknown',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  413: 'Request entity too large: limit is 3145728',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
}

/** `said`: the answer's text, where that is shown. */
export function rejected(code: number, said = 'unknown'): string {
  const words = WORDS[code]
  if (words !== undefined) return words
  if (code >= 500) return `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`
  return `the server responded with the status code ${code} but did not return more information`
}
