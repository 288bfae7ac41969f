/** Errors in words. */

/** What was thrown says, whatever it is. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
