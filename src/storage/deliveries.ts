/** Events on their way to subscribers, some of which have to wait until they can be read: those behind them wait too. */

export interface Delivery {
  /** `pass` is called now, or when `wait` and all that came before are over. It must not throw. */
  hand(wait: Promise<void> | undefined, revision: number, pass: () => void): void
  /** Nothing is passed on any more. */
  end(): void
}

export interface Deliveries {
  /** Of one subscriber, which knows all up to the revision. */
  begin(revision: number): Delivery
  /** Up to where every subscriber was told of everything, if any waits. */
  revision(): number | undefined
  /** Resolves when all that waits now has been passed on; undefined: nothing does. */
  all(): Promise<void> | undefined
}

export function createDeliveries(): Deliveries {
  /** The last revision that each subscriber that waits was told of, and when it is over. */
  const waiting = new Map<Delivery, { readonly told: number; readonly over: Promise<void> }>()

  return {
    begin(after) {
      let told = after
      let isEnded = false
      const delivery: Delivery = {
        hand(wait, revision, pass) {
          const before = waiting.get(delivery)
          const now = () => {
            if (isEnded) return
            pass()
            told = revision
          }
          if (before === undefined && wait === undefined) return now()
          const over = Promise.allSettled([before?.over, wait]).then(() => {
            now()
            if (waiting.get(delivery)?.over === over) waiting.delete(delivery)
          })
          waiting.set(delivery, {
            get told() {
              return told
            },
            over,
          })
        },
        end() {
          isEnded = true
          waiting.delete(delivery)
        },
      }
      return delivery
    },
    revision: () => (waiting.size === 0 ? undefined : Math.min(...[...waiting.values()].map(({ told }) => told))),
    all: () =>
      waiting.size === 0 ? undefined : Promise.all([...waiting.values()].map(({ over }) => over)).then(() => {}),
  }
}
