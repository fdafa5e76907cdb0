import { expect, it } from "vitest";
import { resourceAttributes } from "./resource-attributes.ts";

const own = { version: "1.2.3", instance: "glovebox-1" };

it("names the service, its version and the process, and nothing of the machine", () => {
  expect(resourceAttributes({ ...own, environment: {} })).toEqual({
    "service.name": "glovebox",
    "service.version": "1.2.3",
    "service.instance.id": "glovebox-1",
  });
});

it("takes what the standard variables say above that", () => {
  const environment = {
    OTEL_RESOURCE_ATTRIBUTES: "service.name=other, deployment.environment.name=a%20b=c ,broken,=nameless,bad=%zz",
    OTEL_SERVICE_NAME: "sandboxes",
  };
  expect(resourceAttributes({ ...own, environment })).toEqual({
    "service.name": "sandboxes",
    "service.version": "1.2.3",
    "service.instance.id": "glovebox-1",
    "deployment.environment.name": "a b=c",
  });
  const { OTEL_SERVICE_NAME: _, ...unnamed } = environment;
  expect(resourceAttributes({ ...own, environment: unnamed })).toMatchObject({ "service.name": "other" });
});
