import { beforeAll, beforeEach } from "vitest";
import type { ExecuteRequest, Glovebox, GloveboxOptions } from "../../helpers/wire-glovebox.ts";
import { useGlovebox } from "../../helpers/open-glovebox.ts";
import { skipOrFail } from "../../helpers/require.ts";
import type { Place } from "../../../src/workloads/proof/attack.ts";

export interface UsedPlace {
  readonly glovebox: () => Glovebox;
  /** What else a request must name to run there. */
  readonly request: Pick<ExecuteRequest, "oci_runtime">;
}

/** A Glovebox for the tests of a `describe`, as `useGlovebox` makes it, and what a request for the place must name. */
export function usePlace(place: Place, options: GloveboxOptions = {}): UsedPlace {
  if (place !== "runsc") return { glovebox: useGlovebox(place, options), request: {} };
  const glovebox = useGlovebox("docker", options);
  const request = { oci_runtime: "runsc" };
  let problem: string | null = null;
  beforeAll(async () => {
    const tried = await glovebox()
      .execute({ language: "python", code: "pass", ...request })
      .catch((error: unknown) => error);
    problem = tried instanceof Error ? tried.message : null;
  });
  beforeEach((context) => {
    if (problem !== null) skipOrFail(context, "runsc", problem);
  });
  return { glovebox, request };
}
