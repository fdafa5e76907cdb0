/** A call that the parser refuses: exit code 64, with the usage of the command it is about. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** Usage of the command without the word `container`, such as `run [<options>] <image> [<arguments> ...]`. */
  readonly usage: string;
  /** Words of the command, for the hint at its help. */
  readonly command: string;
  /** Name, value and meaning of the option that it is about. */
  readonly help: string | undefined;

  constructor(message: string, of: { usage: string; command: string; help?: string | undefined }) {
    super(message);
    this.usage = of.usage;
    this.command = of.command;
    this.help = of.help;
  }
}
