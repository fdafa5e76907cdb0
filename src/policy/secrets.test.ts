import { describe, expect, it } from "vitest";
import { chooseSecrets, type RequestedSecrets, type SecretOffer } from "./secrets.ts";

const offers: readonly SecretOffer[] = [
  { name: "OPENAI", principals: null, kinds: null },
  { name: "ADMIN", principals: ["ann"], kinds: null },
  { name: "AGENT", principals: null, kinds: ["agent"] },
];
const choose = (requested: RequestedSecrets, taken: readonly string[] = []): readonly (readonly [string, string])[] =>
  chooseSecrets(requested, offers, { principal: "bob", kind: "execute", taken }).map(({ variable, offer }) => [
    variable,
    offer.name,
  ]);
const refusal = (requested: RequestedSecrets, taken?: readonly string[]): unknown => {
  try {
    return choose(requested, taken);
  } catch (error) {
    return error;
  }
};

describe("chooseSecrets", () => {
  it("takes names, each as the variable of its name, and names by variable", () => {
    expect(choose(["OPENAI", "OPENAI"])).toEqual([["OPENAI", "OPENAI"]]);
    expect(choose({ API_KEY: "OPENAI", OTHER: "OPENAI" })).toEqual([
      ["API_KEY", "OPENAI"],
      ["OTHER", "OPENAI"],
    ]);
    expect(choose([])).toEqual([]);
  });

  it.each(["ADMIN", "AGENT", "NOBODY", "__proto__", "constructor"])(
    "refuses %s to whom it is not offered in the same words, with the names that are",
    (name) => {
      expect(refusal([name])).toMatchObject({
        errorType: "INVALID_REQUEST",
        message: "secrets: there is no secret for you. You may use: OPENAI.",
        context: { field: "secrets", valid: ["OPENAI"] },
      });
    },
  );

  it("offers a secret to its principals and for its kinds", () => {
    const all = (principal: string, kind: "agent" | "execute"): readonly string[] =>
      ["ADMIN", "AGENT"].filter((name) => {
        try {
          return chooseSecrets([name], offers, { principal, kind, taken: [] }).length === 1;
        } catch {
          return false;
        }
      });
    expect([all("ann", "execute"), all("ann", "agent"), all("bob", "agent")]).toEqual([
      ["ADMIN"],
      ["ADMIN", "AGENT"],
      ["AGENT"],
    ]);
  });

  it("names what was mistyped, and shows nothing of what may be a value", () => {
    expect(refusal(["OPENIA"])).toMatchObject({
      message: "secrets: there is no secret OPENIA for you. You may use: OPENAI.",
    });
    for (const value of ["sk-proj-abc", "ghp_0123456789abcdef", "OPENAI=sk"]) {
      expect(JSON.stringify(refusal([value]), Object.getOwnPropertyNames(new Error())), value).not.toContain(value);
    }
  });

  it.each([
    ["A-B", "secrets: expected names of variables"],
    ["", "secrets: expected names of variables"],
    ["PYTHONPATH", "secrets.PYTHONPATH: expected a variable that no interpreter acts on"],
    ["node_options", "secrets.node_options: expected a variable that no interpreter acts on"],
    ["LD_PRELOAD", "secrets.LD_PRELOAD: expected"],
    ["SSLKEYLOGFILE", "secrets.SSLKEYLOGFILE: expected"],
    ["SET", "secrets.SET: expected a variable that `environment` does not set too"],
  ])("refuses the variable %j", (variable, message) => {
    expect(refusal({ [variable]: "OPENAI" }, ["SET"])).toMatchObject({
      errorType: "INVALID_REQUEST",
      message: expect.stringContaining(message),
    });
  });

  it("lets NODE_AUTH_TOKEN be", () => {
    expect(choose({ NODE_AUTH_TOKEN: "OPENAI" })).toHaveLength(1);
  });
});
