import { expect, it } from "vitest";
import { installLine } from "./host-tools.ts";

const systemWith =
  (...programs: readonly string[]) =>
  (program: string) =>
    programs.includes(program);

it.each([
  [["apt-get", "sudo"], "`sudo apt-get install bubblewrap`"],
  [["apt-get"], "`apt-get install bubblewrap`"],
  [["dnf", "sudo"], "`sudo dnf install bubblewrap`"],
  [["apk"], "`apk add bubblewrap`"],
  [["zypper", "sudo"], "`sudo zypper install bubblewrap`"],
  [["pacman", "sudo"], "`sudo pacman -S bubblewrap`"],
  [["sudo"], "Install the package bubblewrap."],
])("on a system with %j, %s", (programs, line) => {
  expect(installLine("bubblewrap", systemWith(...programs))).toBe(line);
});

it("names several packages in one line", () => {
  expect(installLine("bubblewrap util-linux", systemWith("apt-get", "sudo"))).toBe(
    "`sudo apt-get install bubblewrap util-linux`",
  );
  expect(installLine("bubblewrap util-linux", systemWith())).toBe("Install the packages bubblewrap util-linux.");
});
