import { expect, it } from "vitest";
import { processSignals } from "../../engines/engine.ts";
import { isolationLevels } from "../../policy/isolation.ts";
import { javascriptRuntimes, languages } from "../../policy/language.ts";
import { mountUses } from "../../policy/mounts/mount-policy.ts";
import { toolingChanges } from "../../policy/tooling/tooling-changes.ts";
import { toolingFilesModes } from "../../policy/tooling/tooling-files.ts";
import { outcomes } from "../../sandbox/outcome.ts";
import { logStreams } from "../../telemetry/log-entry.ts";
import { verdicts } from "../../workloads/tests/verdict.ts";
import { ownMediaTypes } from "../../workloads/session/variables/read-report.ts";
import * as wire from "../contract/wire-values.ts";

it("the words of the wire are those of the layers that act on them", () => {
  expect({ ...wire }).toEqual({
    languages,
    javascriptRuntimes,
    isolationLevels,
    logStreams,
    outcomes,
    testVerdicts: verdicts,
    processSignals,
    toolingChanges,
    toolingFilesModes,
    mountUses,
    ...ownMediaTypes,
  });
});
