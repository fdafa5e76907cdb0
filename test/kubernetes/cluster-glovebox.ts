import { afterAll, beforeAll } from "vitest";
import { testImages } from "../helpers/test-images.ts";
import { createGlovebox, type Glovebox, type GloveboxOptions } from "../helpers/wire-glovebox.ts";
import { clusterEnvironment } from "./cluster-environment.ts";

/** A Glovebox over the cluster of the tests, for the tests of a `describe`. */
export function useCluster(
  options: GloveboxOptions = {},
  variables: Readonly<Record<string, string>> = {},
): () => Glovebox {
  let glovebox: Glovebox | undefined;
  const before = { ...process.env };
  beforeAll(async () => {
    Object.assign(process.env, clusterEnvironment(variables));
    const settings = { images: testImages, ...options.settings };
    glovebox = await createGlovebox({ ...options, engine: "kubernetes", settings });
  });
  afterAll(async () => {
    await glovebox?.close();
    process.env = before;
  });
  return () => {
    if (glovebox === undefined) throw new Error("The Glovebox is open only while tests run.");
    return glovebox;
  };
}
