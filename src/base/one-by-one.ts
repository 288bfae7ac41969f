/** Asynchronous work that must not overlap: each piece begins when the one before it has ended, however that ended. */
export function oneByOne(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (act) => {
    const done = last.then(act)
    last = done.catch(() => {})
    return done
  }
}
