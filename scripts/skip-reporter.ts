import type { Reporter, TestModule } from "vitest/node";

/** Prints which tests were skipped and why, so that a missing engine never looks like a passed test. */
export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const namesByReason = new Map<string, string[]>();
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const result = test.result();
        const reason = ("note" in result ? result.note : undefined) ?? "no reason given";
        const names = namesByReason.get(reason) ?? [];
        names.push(`${module.relativeModuleId} > ${test.fullName}`);
        namesByReason.set(reason, names);
      }
    }
    for (const [reason, names] of namesByReason) {
      console.log(`\nskipped ${names.length}: ${reason}`);
      for (const name of names.slice(0, 5)) console.log(`  ${name}`);
      if (names.length > 5) console.log(`  and ${names.length - 5} more`);
    }
  }
}
