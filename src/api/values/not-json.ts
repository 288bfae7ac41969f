/** Something in a configuration that is no JSON: expressions of policies can make it. How Go prints it is all that is known. */
export class ForeignValue {
  /** `%v` */
  readonly text: string
  /** `%#v` */
  readonly syntax: string
  /** `%T` */
  readonly goType: string
  constructor(text: string, syntax: string, goType: string) {
    this.text = text
    this.syntax = syntax
    this.goType = goType
  }
}
