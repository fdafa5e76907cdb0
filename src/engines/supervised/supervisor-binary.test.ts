import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readSupervisor, supervisorBinary } from "./supervisor-binary.ts";

describe("the supervisor's binary", () => {
  // e_machine of the ELF header.
  it.each([
    ["x64", 0x3e],
    ["arm64", 0xb7],
  ])("for %s is a static program of its architecture, with the hash that it is said to have", (name, machine) => {
    const { architecture, path, build, sha256 } = supervisorBinary(name);
    const bytes = readFileSync(path);
    expect(architecture).toBe(name);
    expect(bytes.subarray(0, 4).toString("latin1")).toBe("\x7fELF");
    expect(bytes.readUInt16LE(18)).toBe(machine);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
    expect(bytes.includes(build), "HELLO says the build").toBe(true);
    expect(bytes.includes("/ld-musl"), "static").toBe(false);
    expect(bytes.length).toBeLessThan(100_000);
    // Files of Windows have no such mode.
    const isExecutable = process.platform === "win32" || (statSync(path).mode & 0o555) === 0o555;
    expect(isExecutable).toBe(true);
  });

  it("is found by the names that engines and kernels use", () => {
    for (const name of ["amd64", "x86_64"]) expect(supervisorBinary(name)).toEqual(supervisorBinary("x64"));
    expect(supervisorBinary("aarch64")).toEqual(supervisorBinary("arm64"));
    expect(supervisorBinary("arm64").build).toBe(supervisorBinary("x64").build);
  });

  it.each(["riscv64", "arm", "", "toString", "../x64"])("does not exist for %j", (name) => {
    expect(() => supervisorBinary(name)).toThrow(
      expect.objectContaining({ errorType: "UNSUPPORTED", message: expect.stringContaining("expected x64 or arm64") }),
    );
  });

  it("is read only while it is the shipped one", async () => {
    const binary = supervisorBinary("arm64");
    expect(await readSupervisor(binary)).toHaveLength(statSync(binary.path).size);
    const other = { ...binary, path: supervisorBinary("x64").path };
    await expect(readSupervisor(other)).rejects.toMatchObject({
      errorType: "INTERNAL",
      suggestion: expect.stringContaining("Restart Glovebox"),
    });
  });
});
