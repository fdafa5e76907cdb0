import { describe, expect, it } from "vitest";
import { chosenUser, userNamed, sensibleSize, type UserPlace } from "./added-program.ts";

const passwd = [
  "root:x:0:0:root:/root:/bin/sh",
  "app:x:1000:1001::/home/app:/bin/sh",
  "app:x:0:0:second line of the name:/:/bin/sh",
  "warden:x:60706:60706::/:/bin/sh",
  "helper:x:63128:63128::/:/bin/sh",
  "keeper:x:65533:1::/:/bin/sh",
  "hex:x:0x3e8:0x3e8::/:/bin/sh",
  "minus:x:-1:-1::/:/bin/sh",
  "huge:x:4294967295:4294967296::/:/bin/sh",
  "padded:x: 1000 :1000::/:/bin/sh",
  "group:x:1000:0::/:/bin/sh",
  "short:x:1000",
  "1234:x:0:0::/:/bin/sh",
  "many::::::::::::",
].join("\n");

interface Choice {
  readonly chosenUsers?: "any" | "ordinary" | undefined;
  readonly writablePaths?: readonly string[];
  readonly content?: string;
}

function placeWith({ chosenUsers, writablePaths = [], content = passwd }: Choice): UserPlace {
  const read = async function* (): AsyncIterable<Uint8Array> {
    yield Buffer.from(content);
  };
  const files = { read: () => Promise.resolve({ sizeBytes: content.length, chunks: read() }) };
  return { capabilities: { chosenUsers }, engineName: "podman", files, writablePaths } as unknown as UserPlace;
}

describe("chosenUser", () => {
  it.each([
    ["1000", "1000:1000"],
    ["1:59999", "1:59999"],
    ["app", "1000:1001"],
    ["0", "0:0"],
    ["root", "0:0"],
    ["1234", "1234:1234"],
  ])("takes %j for %s where each user is nobody's", async (asked, expected) => {
    expect(await chosenUser(placeWith({ chosenUsers: "any" }), asked)).toBe(expected);
  });

  it.each(["0", "root", "0:1000", "1000:0", "group"])(
    "refuses %j where root inside is the person who runs the engine",
    async (asked) => {
      await expect(chosenUser(placeWith({ chosenUsers: "ordinary" }), asked)).rejects.toMatchObject({
        errorType: "UNSUPPORTED",
      });
      expect(await chosenUser(placeWith({ chosenUsers: "ordinary" }), "app")).toBe("1000:1001");
    },
  );

  it.each([
    "0x0",
    "0x3e8",
    "-1",
    "4294967295",
    "60000",
    "99999",
    "01000",
    "1e3",
    " 1000",
    "1000 ",
    "1000:",
    ":1000",
    "",
  ])("refuses %j", async (asked) => {
    await expect(chosenUser(placeWith({ chosenUsers: "any" }), asked)).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
    });
  });

  it.each(["../", "app\n", "app:x", "a/b", "1000\n0:0", "٣", "1000:1000:0", "$(id)", "-u", "a".repeat(33)])(
    "refuses the name %j",
    async (asked) => {
      await expect(chosenUser(placeWith({ chosenUsers: "any" }), asked)).rejects.toMatchObject({
        errorType: "INVALID_REQUEST",
      });
    },
  );

  it.each(["warden", "helper", "keeper", "hex", "minus", "huge", "padded", "short", "many", "nobody", "__proto__"])(
    "refuses what a hostile file of names says of %s",
    async (asked) => {
      await expect(chosenUser(placeWith({ chosenUsers: "any" }), asked)).rejects.toMatchObject({
        errorType: "INVALID_REQUEST",
      });
    },
  );

  it.each(["1000", "root", "app"])("refuses %s where it could be somebody of the host", async (asked) => {
    await expect(chosenUser(placeWith({}), asked)).rejects.toMatchObject({
      errorType: "UNSUPPORTED",
      suggestion: expect.stringContaining("userns-remap"),
      context: { engine: "podman", missing: "chosenUsers" },
    });
  });

  it("refuses any beside a writable folder of the host", async () => {
    const place = placeWith({ chosenUsers: "any", writablePaths: ["/home/ana/project"] });
    await expect(chosenUser(place, "1000")).rejects.toMatchObject({ errorType: "UNSUPPORTED" });
  });
});

describe("userNamed", () => {
  it("takes the first line of exactly that name, and no part of another", () => {
    const passwd = "roots:x:5:5::/:\nroot:x:7:8:a:b:c\nroot:x:9:9::/:\nhalf:x:1\n";
    expect(userNamed("root", passwd)).toBe("7:8");
    expect(userNamed("half", passwd)).toBe(null);
    expect(userNamed("oot", passwd)).toBe(null);
  });
});

it("takes sizes that make no sense for those of an ordinary terminal", () => {
  expect(sensibleSize({ columns: 132, rows: 50 })).toEqual({ columns: 132, rows: 50 });
  expect(sensibleSize({ columns: 0, rows: -1 })).toEqual({ columns: 80, rows: 24 });
  expect(sensibleSize({ columns: 1e9, rows: Number.NaN })).toEqual({ columns: 80, rows: 24 });
});
