import { describe, expect, it } from "vitest";
import { runsAtStart } from "./set-folder.ts";

describe("runsAtStart", () => {
  it.each([
    ...["a.pth", "A.PTH", "sitecustomize.py", "usercustomize.py", "SiteCustomize.py", "sitecustomize.so"],
    ...["sitecustomize/__init__.py", "usercustomize.cpython-311-x86_64-linux-gnu.so"],
  ])("knows %s", (file) => {
    expect(runsAtStart(file)).toBe(true);
  });

  it.each(["a/b.pth", "a/sitecustomize.py", "sitecustomized.py", "a.pth.py", "pth", "my_sitecustomize.py"])(
    "leaves %s",
    (file) => {
      expect(runsAtStart(file)).toBe(false);
    },
  );
});
