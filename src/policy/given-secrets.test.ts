import { describe, expect, it } from "vitest";
import { GivenSecrets } from "./given-secrets.ts";

describe("GivenSecrets", () => {
  it("takes out all that were given until now, a name's former values too", () => {
    const given = new GivenSecrets();
    given.add([{ name: "TOKEN", value: "first-value" }]);
    const before = given.redaction();
    given.add([
      { name: "TOKEN", value: "second-value" },
      { name: "KEY", value: "key-value" },
    ]);
    const said = "first-value second-value key-value";
    expect(before.text(said)).toBe("[redacted:TOKEN] second-value key-value");
    expect(given.redaction().text(said)).toBe("[redacted:TOKEN] [redacted:TOKEN] [redacted:KEY]");
  });

  it("takes out nothing while there are none", () => {
    expect(new GivenSecrets().redaction().text("first-value")).toBe("first-value");
  });
});
