/** A reason why a command cannot do its work; its message is all that the user needs to see. */
export class CommandFault extends Error {
  override readonly name = 'CommandFault';
  /** The command was misspelt: exit code 2. */
  readonly isUsage: boolean;

  constructor(message: string, options: { isUsage?: boolean } = {}) {
    super(message);
    this.isUsage = options.isUsage ?? false;
  }
}
