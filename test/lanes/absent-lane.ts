import { inject, it } from "vitest";
import { skipOrFail } from "../helpers/require.ts";
import { rareTag } from "./lanes.ts";

const { lane, reason, rare, files } = inject("absentLane");

// A file is one visible skip, whatever number of tests it has.
// oxlint-disable-next-line vitest/expect-expect
it.for(files)(`${lane}: %s`, { tags: rare ? [rareTag] : [] }, (_, context) => skipOrFail(context, lane, reason));
