import { expect, it } from "vitest";
import { productEngines } from "../engines/engine-table.ts";
import { enginesToProve } from "./prove-handler.ts";

it("attacks no engine unasked that is used only by its name", () => {
  expect(enginesToProve(productEngines, "auto")).toEqual(["docker", "podman", "apple", "local"]);
  expect(enginesToProve(productEngines, "kubernetes")).toEqual(productEngines);
});
