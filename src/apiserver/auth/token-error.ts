/** Says why a token was not believed; TokenReview shows it, a 401 does not. */
export class TokenError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TokenError'
  }
}

export const INVALID_TOKEN = 'invalid bearer token'

/** A token that nothing vouches for, and nothing has said more about. */
export class UnknownTokenError extends TokenError {
  constructor() {
    super(INVALID_TOKEN)
  }
}
