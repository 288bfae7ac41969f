/** Errors in words. */

/** What was thrown says, whatever it is. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** What a system says of a disk, a quota or a file that may hold no more. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** Whether something failed only for want of room on a disk, so that it may be tried again later. */
export const isNoRoom = (thrown: unknown): boolean => NO_ROOM.has((thrown as NodeJS.ErrnoException | undefined)?.code)
