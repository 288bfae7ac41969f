/** A start over encrypted objects: those whose keys a plugin holds that is not well are waited for, while requests are served. */
import { isUnreadable } from '../apiserver/cache/unreadable.ts'
import { sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { StoreError } from '../storage/storage.ts'

/** Between two looks whether the plugin has come. */
const PATIENCE_MS = 1000
/** So long after all plugins are well what they hold keys of may take to be read anew. */
const READ_ANEW_MS = 30_000

/** `checkPlugins`: rejects while one is not well; undefined: there are none. @throws StoreError for what nothing here can decipher */
export async function whenReadable(
  { log, machineClock }: Pick<Runtime, 'log' | 'machineClock'>,
  checkPlugins: (() => Promise<void>) | undefined,
  signal: AbortSignal,
  act: () => Promise<void>,
): Promise<void> {
  let wellSince: number | undefined
  for (;;) {
    try {
      return await act()
    } catch (cause) {
      if (!isUnreadable(cause) || signal.aborted) throw cause
      const isOver = wellSince !== undefined && machineClock.monotonic() - wellSince >= READ_ANEW_MS
      if (checkPlugins === undefined || isOver)
        throw new StoreError(`${messageOf(cause)}; start with the encryption configuration it was written with`, {
          cause,
        })
      log.error('the start waits for what is encrypted', cause)
    }
    wellSince = (await isWell(checkPlugins)) ? (wellSince ?? machineClock.monotonic()) : undefined
    await sleep(machineClock, PATIENCE_MS, signal)
  }
}

async function isWell(check: () => Promise<void>): Promise<boolean> {
  try {
    await check()
    return true
  } catch {
    return false
  }
}
