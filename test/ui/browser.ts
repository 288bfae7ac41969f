/**
 * A Chromium of this machine without a window, driven by its DevTools protocol over one WebSocket: what tests of the page need of it. All
 * that the page asks for, and all that its console says, is kept.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import WebSocket from 'ws'

// biome-ignore lint/suspicious/noExplicitAny: the protocol's answers, of which tests take what they need
type Any = any

export interface Browser {
  /** URLs of all requests since it was started, in order. */
  readonly requests: readonly string[]
  /** Errors and warnings of the page: of its scripts, and of its content security policy. */
  readonly complaints: readonly string[]
  open(url: string): Promise<void>
  /** The value of an expression in the page; of a promise what it resolves with. */
  run<T = Any>(expression: string): Promise<T>
  /** Until the expression is true. @throws with what the page shows when that takes too long */
  until(expression: string): Promise<void>
  /** Presses a key as a keyboard does: `ArrowDown`, `Enter`, `a`. */
  press(key: string): Promise<void>
  /** Clicks in the middle of the first element that the selector finds, or of the one with this text. */
  click(selector: string, text?: string): Promise<void>
  clickAt(x: number, y: number): Promise<void>
  send(method: string, params?: object): Promise<Any>
  /** PNG. */
  screenshot(): Promise<Buffer>
  close(): Promise<void>
}

const PATIENCE_MS = 60_000

export async function startBrowser(executable: string, size = { width: 1280, height: 800 }): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'skiff-chromium-'))
  const child = spawn(
    executable,
    [
      ...['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`, '--no-sandbox', '--disable-gpu'],
      ...['--no-first-run', '--disable-extensions', '--disable-background-networking', '--disable-component-update'],
      ...['--disable-sync', '--disable-default-apps', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
      ...['--hide-scrollbars', `--window-size=${size.width},${size.height}`, 'about:blank'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  try {
    const { origin } = new URL((await endpointOf(child)).replace('ws:', 'http:'))
    const targets = (await (await fetch(`${origin}/json/list`)).json()) as Any[]
    const page = targets.find(({ type }) => type === 'page')
    return await drive(page.webSocketDebuggerUrl, size, async () => {
      child.kill('SIGKILL')
      await gone
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    })
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}

async function endpointOf({ stderr }: ChildProcess): Promise<string> {
  let said = ''
  if (stderr !== null)
    for await (const line of createInterface({ input: stderr })) {
      said += `${line}\n`
      const found = /DevTools listening on (\S+)/.exec(line)?.[1]
      if (found === undefined) continue
      stderr.resume()
      return found
    }
  throw new Error(`Chromium ended: ${said}`)
}

async function drive(
  endpoint: string,
  size: { width: number; height: number },
  end: () => Promise<void>,
): Promise<Browser> {
  const socket = new WebSocket(endpoint)
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  let last = 0
  const waiting = new Map<number, { resolve: (value: Any) => void; reject: (error: Error) => void }>()
  const requests: string[] = []
  const complaints: string[] = []
  let loaded = () => {}
  socket.on('message', (data) => {
    const { id, result, error, method, params } = JSON.parse(String(data))
    if (id !== undefined) {
      const one = waiting.get(id)
      waiting.delete(id)
      if (error === undefined) one?.resolve(result)
      else one?.reject(new Error(`${error.message} ${error.data ?? ''}`))
    } else if (method === 'Network.requestWillBeSent') requests.push(params.request.url)
    else if (method === 'Runtime.exceptionThrown') complaints.push(params.exceptionDetails.exception?.description)
    else if (method === 'Log.entryAdded' && params.entry.level !== 'info') complaints.push(params.entry.text)
    else if (method === 'Page.loadEventFired') loaded()
  })
  const send = (method: string, params: object = {}) =>
    new Promise<Any>((resolve, reject) => {
      const id = ++last
      waiting.set(id, { resolve, reject })
      socket.send(JSON.stringify({ id, method, params }))
    })
  for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await send(`${domain}.enable`)
  await send('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1, mobile: false })

  async function run<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    })
    if (exceptionDetails !== undefined)
      throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
    return result.value
  }

  async function clickAt(x: number, y: number): Promise<void> {
    for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased'])
      await send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 })
  }

  const found = (selector: string, text?: string) =>
    text === undefined
      ? `document.querySelector(${JSON.stringify(selector)})`
      : `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => one.textContent.includes(${JSON.stringify(text)}))`

  /** Looked at in the page, frame by frame; anew where it went on to another page meanwhile. */
  async function until(expression: string): Promise<void> {
    const waits = `new Promise((resolve) => {
      let frames = 0
      const look = () => {
        let is = false
        try { is = Boolean(${expression}) } catch {}
        if (is || frames++ > 600) resolve(is)
        else requestAnimationFrame(look)
      }
      look()
    })`
    const began = performance.now()
    while (performance.now() - began < PATIENCE_MS) if (await run<boolean>(waits).catch(() => false)) return
    const shown = await run('document.body.innerText').catch(() => '')
    throw new Error(`never: ${expression}\nthe page shows: ${shown}\n${complaints.join('\n')}`)
  }

  return {
    requests,
    complaints,
    async open(url) {
      const arrived = new Promise<void>((resolve) => {
        loaded = resolve
      })
      await send('Page.navigate', { url })
      await arrived
    },
    run,
    until,
    async press(key) {
      const text = key.length === 1 ? { text: key } : key === 'Enter' ? { text: '\r' } : {}
      const codes: Record<string, number> = { Enter: 13, Tab: 9, Escape: 27, ' ': 32 }
      const shared = { key, code: key === ' ' ? 'Space' : key, windowsVirtualKeyCode: codes[key] ?? 0 }
      await send('Input.dispatchKeyEvent', { type: 'text' in text ? 'keyDown' : 'rawKeyDown', ...shared, ...text })
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...shared })
    },
    async click(selector, text) {
      await until(found(selector, text))
      const place = await run<{ x: number; y: number }>(`(() => {
        const element = ${found(selector, text)}
        element.scrollIntoView({ block: 'nearest' })
        const { x, y, width, height } = element.getBoundingClientRect()
        return { x: x + width / 2, y: y + height / 2 }
      })()`)
      await clickAt(place.x, place.y)
    },
    clickAt,
    send,
    async screenshot() {
      const { data } = await send('Page.captureScreenshot', { format: 'png' })
      return Buffer.from(data, 'base64')
    },
    async close() {
      socket.terminate()
      await end()
    },
  }
}
