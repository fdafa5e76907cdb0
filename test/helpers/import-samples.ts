import { existsSync, readFileSync } from "node:fs";

/** A program whose imports are hard to find, and the packages that it needs. */
export interface ImportSample {
  readonly id: string;
  readonly language: "python" | "javascript" | "typescript";
  readonly code: string;
  readonly expected: Expected;
  /** Other answers that are just as good. */
  readonly alt?: readonly Expected[];
  readonly note?: string;
}

type Expected = readonly string[] | { readonly pypi: readonly string[] };

const file = new URL("../../../shared/corpus/imports/imports.json", import.meta.url);

/** Whether the samples are next to this checkout. */
export const importSamplesPresent: boolean = existsSync(file);

export function readImportSamples(): readonly ImportSample[] {
  return JSON.parse(readFileSync(file, "utf8")) as readonly ImportSample[];
}

/** The answers that are right for a sample, as {@link comparableNames} writes them. */
export function answersOf({ expected, alt = [] }: ImportSample): readonly (readonly string[])[] {
  const answers = [expected, ...alt].map((answer) => ("pypi" in answer ? answer.pypi : answer));
  // A note of the samples says so.
  const headless = answers.map((names) => names.map((name) => (name === "opencv-python" ? `${name}-headless` : name)));
  return [...answers, ...headless].map((names) => comparableNames(names));
}

/** Names without their versions, normalised in the way the Python index compares them. */
export function comparableNames(specs: readonly string[]): readonly string[] {
  const names = specs.map((spec) => spec.replace(/(?<=.)@.*$/, ""));
  return names.map((name) => (name.startsWith("@") ? name : name.toLowerCase().replaceAll(/[-_.]+/g, "-"))).toSorted();
}
