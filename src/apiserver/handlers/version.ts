/** /version: what Kubernetes this server speaks for. */
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { noSuchResource, notAllowed } from '../../api/status.ts'
import { requireType } from './negotiate.ts'

export const KUBERNETES = '1.37.1'
const GIT_VERSION = `v${KUBERNETES}+skiff`
/** git writes the commit in when it makes an archive (.gitattributes); in a checkout and in the package it stays as it is. */
const GIT_COMMIT = '$Format:%H$'

/** What /version tells. */
export const BUILD = {
  major: '1',
  minor: '37',
  emulationMajor: '1',
  emulationMinor: '37',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '36',
  gitVersion: GIT_VERSION,
  gitCommit: GIT_COMMIT,
  // As the v1.37.1 says that all was asked of; a release of Kubernetes' own says clean.
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'go1.26.8',
  compiler: 'gc',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
}

const document = Buffer.from(JSON.stringify(BUILD, null, 2))

/** undefined when the path is another. @throws StatusError 404, 405 */
export function versionResponse(request: ApiRequest): ApiResponse | undefined {
  if (!request.path.startsWith('/version')) return undefined
  const behind = request.path.slice('/version'.length)
  if (!/^\/*$/.test(behind)) {
    if (behind.startsWith('/')) throw noSuchResource()
    return undefined
  }
  if (request.method !== 'GET') throw notAllowed()
  requireType(request, 'application/json')
  return { kind: 'bytes', status: 200, contentType: 'application/json', bytes: [document] }
}
