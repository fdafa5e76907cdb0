#!/usr/bin/env node
// Only syntax and modules that old Node versions know, so that they can print what is needed.
const needed = { major: 22, minor: 18 };
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < needed.major || (major === needed.major && minor < needed.minor)) {
  process.stderr.write(
    `glovebox: needs Node ${needed.major}.${needed.minor} or later; this is Node ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else {
  // Not for --version and --help, which load next to nothing, nor for a checkout, whose sources change.
  if (/^\w/.test(process.argv[2] ?? "") && import.meta.url.endsWith(".js")) {
    const { keepCompiledCode } = await import("../config/host/compile-cache.ts");
    keepCompiledCode();
  }
  const { runFromProcess } = await import("./process-io.ts");
  await runFromProcess();
}
