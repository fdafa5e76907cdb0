/** What runs the programs that packages are for. */
export type PackageInterpreter = "python" | "node" | "bun";
