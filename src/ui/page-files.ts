/** The files of the page: beside the code where it is bundled; of a checkout that runs its sources they are bundled when the first is asked for. */
import { existsSync, readFileSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'

/** Beside this file: in sources those of the page, in bundles what was made of them. */
const FOLDER = new URL('./page/', import.meta.url)

export interface PageFile {
  readonly contentType: string
  readonly bytes: Uint8Array
}

const FILES: Readonly<Record<string, readonly [path: string, contentType: string]>> = {
  'page.html': ['/', 'text/html; charset=utf-8'],
  'page.js': ['/page.js', 'text/javascript; charset=utf-8'],
  'page.css': ['/page.css', 'text/css; charset=utf-8'],
  'page.svg': ['/page.svg', 'image/svg+xml'],
}

/** By their paths within the server's folder. @throws Error where they cannot be made or read */
export async function pageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const made = existsSync(new URL('page.js', FOLDER)) ? undefined : await bundled()
  return new Map(
    Object.entries(FILES).map(([name, [path, contentType]]) => [
      path,
      { contentType, bytes: made?.get(name) ?? readFileSync(new URL(name, FOLDER)) },
    ]),
  )
}

/** tools/page.ts, which only a checkout has. */
interface PageTool {
  pageBundle(): Promise<{ readonly files: ReadonlyMap<string, Uint8Array> }>
}

async function bundled(): Promise<ReadonlyMap<string, Uint8Array>> {
  try {
    const tool: PageTool = await import(new URL('../../tools/page.ts', import.meta.url).href)
    return (await tool.pageBundle()).files
  } catch (error) {
    throw new Error(`the page cannot be made of its sources: ${messageOf(error)}`, { cause: error })
  }
}
