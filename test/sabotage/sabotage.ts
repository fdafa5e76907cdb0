/** One small fault planted in the product's code, and the test that must notice it. */
export interface Sabotage {
  /** What is broken, in a few words; unique among all sabotages. */
  readonly id: string;
  /** The source file, relative to the project root. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  /** The text that replaces it. */
  readonly replace: string;
  /** The test file, relative to the project root. */
  readonly test: string;
  /** A part of the full name (describes included) of the tests to run; at least one of them must fail. */
  readonly name: string;
}
