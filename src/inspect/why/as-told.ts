/** What objects, Events and servers say may be of any length: it is cut where it is read, before it is searched and told. */

/** The beginning tells what was tried, and the end, in an error that wraps others, why it failed. */
const BEGINNING = 2048
const END = 1024

/** Words as they are searched and told: of very long ones the beginning and the end. */
export const asTold = (words: string): string =>
  words.length <= BEGINNING + END
    ? words
    : `${words.slice(0, BEGINNING).toWellFormed()} … ${words.slice(-END).toWellFormed()}`
