/** One small fault planted in the product's code, and the test that must notice it. */
export interface Sabotage {
  /** What is broken, in a few words; unique among all. */
  readonly id: string;
  /** The source file, from the project's root. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  /** What stands there instead. */
  readonly replace: string;
  /** The test file, from the project's root. */
  readonly test: string;
  /** A part of the full name (describes included) of the tests that are run; one of them at least must fail. */
  readonly name: string;
}
