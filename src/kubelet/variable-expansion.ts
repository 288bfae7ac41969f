/** `$(NAME)` in variables, commands and arguments of containers (API concept: dependent environment variables). */

/** `$(NAME)` is NAME's value where it has one, and stays as it is where it has none; `$$` is one dollar. */
export function expanded(text: string, variables: (name: string) => string | undefined): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (all, name: string | undefined) =>
    name === undefined ? '$' : (variables(name) ?? all),
  )
}
